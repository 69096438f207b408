package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.springframework.security.config.Customizer.withDefaults;

import io.ratelimit.RateLimiter;
import io.ratelimit.spi.RateLimitKeyContext;
import io.ratelimit.spi.RateLimitKeyResolver;
import io.ratelimit.testing.LongRunning;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Where rules stand to Spring Security, which asks for a password on a real server of either stack. */
@LongRunning
@ExtendWith(OutputCaptureExtension.class)
class RuleOrderTests {

    private static final String ALICE = basic("alice", "secret");

    private static final String BOB = basic("bob", "secret");

    private static final String WRONG = basic("alice", "guess");

    /** One permit for each user. */
    private static final List<String> USERS = List.of(
            "ratelimit.limits.users.rate=1/h",
            "ratelimit.limits.users.key-expression=principal.name",
            "ratelimit.http[0].path=/**",
            "ratelimit.http[0].limit=users");

    /** Three permits for each client. */
    private static final List<String> CLIENTS = List.of(
            "ratelimit.limits.clients.rate=3/h",
            "ratelimit.limits.clients.key-expression=clientIp",
            "ratelimit.http[1].path=/**",
            "ratelimit.http[1].limit=clients");

    private static String basic(String user, String password) {
        byte[] credentials = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
        return "Authorization: Basic " + Base64.getEncoder().encodeToString(credentials);
    }

    private static List<Integer> statuses(RawHttp http, String... credentials) {
        return statuses("/any", http, credentials);
    }

    private static List<Integer> statuses(String path, RawHttp http, String... credentials) {
        return Stream.of(credentials)
                .map(header -> http.send("GET " + path, header).status())
                .toList();
    }

    private static void with(Stack stack, Consumer<RawHttp> test, Stream<String> properties) {
        try (RunningApplication application =
                new RunningApplication(stack.type, stack.source, properties.toArray(String[]::new)).start()) {
            test.accept(application.http());
        }
    }

    @ParameterizedTest
    @EnumSource
    void ruleOfUsersComesAfterTheLoginAndTheOtherBefore(Stack stack) {
        with(
                stack,
                http -> assertThat(statuses(http, WRONG, ALICE, ALICE, BOB, WRONG, ALICE))
                        .containsExactly(401, 200, 429, 429, 429, 429),
                Stream.concat(USERS.stream(), CLIENTS.stream()));
    }

    @ParameterizedTest
    @EnumSource
    void wrongPasswordIsNotChargedToAUser(Stack stack) {
        with(
                stack,
                http -> assertThat(statuses(http, WRONG, WRONG, ALICE, WRONG, BOB, ALICE))
                        .containsExactly(401, 401, 200, 401, 200, 429),
                USERS.stream());
    }

    /** As by {@code principal}. */
    @ParameterizedTest
    @CsvSource({
        "SERVLET, #root['principal']",
        "REACTIVE, #root['principal']",
        "SERVLET, ['principal'].name",
        "REACTIVE, ['principal'].name"
    })
    void ruleOfUsersByIndexComesAfterTheLogin(Stack stack, String key) {
        with(
                stack,
                http -> assertThat(statuses(http, WRONG, ALICE, ALICE, BOB)).containsExactly(401, 200, 429, 200),
                USERS.stream().map(property -> property.replace("principal.name", key)));
    }

    @ParameterizedTest
    @EnumSource
    void orderOfARuleOverrides(Stack stack) {
        List<String> properties = List.of(
                "ratelimit.limits.clients.rate=1/h",
                "ratelimit.limits.clients.key-expression=clientIp",
                "ratelimit.http[0].path=/**",
                "ratelimit.http[0].limit=clients",
                "ratelimit.http[0].order=after-security");
        with(
                stack,
                http -> assertThat(statuses(http, WRONG, WRONG, ALICE, WRONG, BOB))
                        .containsExactly(401, 401, 200, 401, 429),
                properties.stream());
    }

    @Test
    void ruleOfClientsIsBeforeAFilterOfSpringSecurityThatIsEarlier() {
        with(
                Stack.SERVLET,
                http -> assertThat(statuses(http, WRONG, WRONG, WRONG, WRONG)).containsExactly(401, 401, 401, 429),
                Stream.concat(
                        CLIENTS.stream().map(property -> property.replace("[1]", "[0]")),
                        Stream.of("spring.security.filter.order=-200")));
    }

    /** Nothing tells whether a bean reads the user, so a rule by one comes before the login. */
    @ParameterizedTest
    @EnumSource
    void ruleByABeanThatReadsTheUserSaysWhatItNeeds(Stack stack, CapturedOutput output) {
        List<String> rule = List.of(
                "ratelimit.limits.users.rate=1/h",
                "ratelimit.limits.users.key-resolver=login",
                "ratelimit.http[0].path=/**",
                "ratelimit.http[0].limit=users");
        with(stack, http -> assertThat(statuses(http, ALICE)).containsExactly(400), rule.stream());
        assertThat(output)
                .contains(
                        "Request without a key for rate limit 'users' (ratelimit.http[0]: ratelimit.limits.users.key-resolver"
                                + " \"login\", which needs order: after-security if it reads the principal, must return a key (was null))");
        with(
                stack,
                http -> assertThat(statuses(http, WRONG, ALICE, ALICE, BOB)).containsExactly(401, 200, 429, 200),
                Stream.concat(rule.stream(), Stream.of("ratelimit.http[0].order=after-security")));
    }

    /** As before there were two filters: all rules are charged together, or none. */
    @ParameterizedTest
    @EnumSource
    void filterThatComesAfterTheLoginAppliesAllRules(Stack stack) {
        with(
                stack,
                http -> assertThat(statuses(http, WRONG, ALICE, ALICE, ALICE, BOB))
                        .containsExactly(401, 200, 429, 429, 200),
                Stream.of(USERS, CLIENTS, List.of("ratelimit.web.filter-order=-99"))
                        .flatMap(List::stream));
    }

    /** Spring Security answers the exception of a handler, after the filter that has charged the user. */
    @ParameterizedTest
    @EnumSource
    void costOfARuleOfUsersReadsWhatSpringSecurityAnswers(Stack stack) {
        with(
                stack,
                http -> assertThat(statuses("/denied", http, ALICE, ALICE, BOB)).containsExactly(403, 429, 403),
                Stream.concat(
                        USERS.stream(), Stream.of("ratelimit.limits.users.permits-after=#status == 403 ? 1 : 0")));
    }

    /** The request is over for both filters when the outer one is. */
    @ParameterizedTest
    @EnumSource
    void costOfARuleOfClientsReadsTheSameBesideARuleOfUsers(Stack stack) {
        List<String> properties = List.of(
                "ratelimit.limits.users.algorithm=concurrency",
                "ratelimit.limits.users.capacity=5",
                "ratelimit.limits.users.key-expression=principal.name",
                "ratelimit.http[0].path=/**",
                "ratelimit.http[0].limit=users",
                "ratelimit.limits.clients.permits-after=#status == 403 ? 3 : 0");
        try (RunningApplication application = new RunningApplication(
                        stack.type,
                        stack.source,
                        Stream.concat(properties.stream(), CLIENTS.stream()).toArray(String[]::new))
                .start()) {
            RateLimiter clients = application.limiter("clients");
            assertThat(statuses("/denied", application.http(), ALICE)).containsExactly(403);
            // The client may have the response before the cost is charged.
            await().untilAsserted(() ->
                    assertThat(clients.peek("127.0.0.1").remaining()).isZero());
            assertThat(statuses("/denied", application.http(), BOB)).containsExactly(429);
        }
    }

    private enum Stack {
        SERVLET(WebApplicationType.SERVLET, ServletApplication.class),
        REACTIVE(WebApplicationType.REACTIVE, ReactiveApplication.class);

        private final WebApplicationType type;

        private final Class<?> source;

        Stack(WebApplicationType type, Class<?> source) {
            this.type = type;
            this.source = source;
        }
    }

    private static UserDetails[] users() {
        return Stream.of("alice", "bob")
                .map(name -> User.withUsername(name).password("{noop}secret").build())
                .toArray(UserDetails[]::new);
    }

    @RestController
    static class Handlers {

        @GetMapping("/any")
        String any() {
            return "any";
        }

        @GetMapping("/denied")
        String denied() {
            throw new AccessDeniedException("on purpose");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebSecurity
    @Import({Handlers.class, SpringSecurityFilter.class})
    static class ServletApplication {

        @Bean
        SecurityFilterChain basic(HttpSecurity security) {
            return security.authorizeHttpRequests(
                            requests -> requests.anyRequest().authenticated())
                    .httpBasic(withDefaults())
                    .build();
        }

        @Bean
        RateLimitKeyResolver login() {
            return RateLimitKeyContext::principal;
        }

        @Bean
        UserDetailsService knownUsers() {
            return new InMemoryUserDetailsManager(users());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebFluxSecurity
    @Import(Handlers.class)
    static class ReactiveApplication {

        @Bean
        SecurityWebFilterChain basic(ServerHttpSecurity security) {
            return security.authorizeExchange(
                            exchanges -> exchanges.anyExchange().authenticated())
                    .httpBasic(withDefaults())
                    .build();
        }

        @Bean
        RateLimitKeyResolver login() {
            return RateLimitKeyContext::principal;
        }

        @Bean
        MapReactiveUserDetailsService knownUsers() {
            return new MapReactiveUserDetailsService(users());
        }
    }
}
