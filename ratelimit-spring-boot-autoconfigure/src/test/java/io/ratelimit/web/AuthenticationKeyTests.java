package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.config.Customizer.withDefaults;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.ForegroundLog;
import io.ratelimit.testing.LongRunning;
import jakarta.servlet.http.HttpSession;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.ReactiveAuthenticationManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.SecurityWebFiltersOrder;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity.CsrfSpec;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.security.web.authentication.AuthenticationFilter;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.authentication.AuthenticationWebFilter;
import org.springframework.security.web.server.util.matcher.PathPatternParserServerWebExchangeMatcher;
import org.springframework.util.DigestUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.WebSession;
import reactor.core.publisher.Mono;

/** The keys of docs/authentication-keys.md, of callers that Spring Security lets in by a form, a token or an API key. */
@LongRunning
@ExtendWith(OutputCaptureExtension.class)
class AuthenticationKeyTests {

    /** Alice is let in once, and so is Bob. */
    private static final List<String> NAMES = List.of("alice", "alice", "bob", "alice", "bob");

    private static final Pattern COOKIE = Pattern.compile("(?i)Set-Cookie: ([^;]+);");

    private static final List<Integer> STATUSES = List.of(200, 429, 200, 429, 429);

    private static List<Arguments> callers() {
        return Stream.of(Stack.values())
                .flatMap(stack -> Stream.of(Caller.values()).map(caller -> Arguments.of(stack, caller)))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void rulesLimitEachCaller(Stack stack) {
        List<Caller> callers = List.of(Caller.values());
        String[] properties = IntStream.range(0, callers.size())
                .boxed()
                .flatMap(index -> callers.get(index).rule(index))
                .toArray(String[]::new);
        try (RunningApplication application = start(stack, properties)) {
            assertThat(callers)
                    .allSatisfy(caller -> assertThat(caller.statuses(application, "rule/" + caller.name()))
                            .isEqualTo(STATUSES));
        }
    }

    @LongRunning
    @ParameterizedTest
    @MethodSource("callers")
    void annotationLimitsEachCaller(Stack stack, Caller caller) {
        try (RunningApplication application = start(stack, "ratelimit.limits.callers.key-expression=" + caller.key)) {
            assertThat(caller.statuses(application, "method/any")).isEqualTo(STATUSES);
        }
    }

    @ParameterizedTest
    @EnumSource
    void annotationReadsTheArgumentsThatSpringSecurityResolves(Stack stack) {
        try (RunningApplication application = start(stack)) {
            assertThat(Caller.FORM_LOGIN.statuses(application, "user/any")).isEqualTo(STATUSES);
            assertThat(Caller.JWT.statuses(application, "token/any")).isEqualTo(STATUSES);
        }
    }

    @ParameterizedTest
    @EnumSource
    void annotationReadsTheSession(Stack stack) {
        try (RunningApplication application = start(stack)) {
            RawHttp http = application.http();
            String alice = login(http, "alice");
            String other = login(http, "alice");
            assertThat(Stream.of(alice, alice, other, other)
                            .map(cookie -> http.send("GET /session", cookie).status()))
                    .containsExactly(200, 429, 200, 429);
        }
    }

    /** The class of the authentication is that of each request, so no start-up knows that it has no user name. */
    @ParameterizedTest
    @EnumSource
    void propertyThatTheAuthenticationLacksIsA500AndALine(Stack stack, CapturedOutput output) {
        try (RunningApplication application = start(
                stack,
                "ratelimit.limits.callers.key-expression=principal.username",
                "ratelimit.limits.ruled.rate=1/h",
                "ratelimit.limits.ruled.key-expression=principal.username",
                "ratelimit.http[0].path=/rule/any/form",
                "ratelimit.http[0].limit=ruled")) {
            int before = output.getAll().length();
            assertThat(Caller.FORM_LOGIN.statuses(application, "method/any")).containsOnly(500);
            assertThat(Caller.FORM_LOGIN.statuses(application, "rule/any")).containsOnly(500);
            String log = ForegroundLog.of(output.getAll().substring(before));
            assertThat(log.lines().filter(line -> line.contains(" ERROR ")))
                    .hasSize(2)
                    .allMatch(
                            line -> line.contains(
                                    "key-expression \"principal.username\" failed (EL1008E: Property or field"
                                            + " 'username' cannot be found on object of type"
                                            + " 'org.springframework.security.authentication.UsernamePasswordAuthenticationToken'"));
            assertThat(log).doesNotContain("\tat ");
        }
    }

    private static RunningApplication start(Stack stack, String... properties) {
        return new RunningApplication(
                        stack.type,
                        stack.source,
                        Stream.concat(Stream.of("ratelimit.defaults.rate=1/h"), Stream.of(properties))
                                .toArray(String[]::new))
                .start();
    }

    /** Returns the header with the session's cookie. */
    private static String login(RawHttp http, String name) {
        String answer =
                http.post("/login", "username=" + name + "&password=secret").text();
        return COOKIE.matcher(answer)
                .results()
                .map(found -> "Cookie: " + found.group(1))
                .findFirst()
                .orElseThrow();
    }

    /** How a caller shows a name, and the expression of its key. */
    private enum Caller {
        FORM_LOGIN("form", "principal"),
        USER_OF_A_FORM_LOGIN("form", "principal.principal.username"),
        JWT("jwt", "principal"),
        CLAIM_OF_A_JWT("jwt", "principal.token.claims['tenant']"),
        OPAQUE_TOKEN("opaque", "principal"),
        ATTRIBUTE_OF_AN_OPAQUE_TOKEN("opaque", "principal.tokenAttributes['tenant']"),
        API_KEY("key", "principal"),
        API_KEY_BEFORE_IT_IS_CHECKED("key", "@secrets.hash(header('X-Api-Key'))"),
        TENANT_OF_THE_PATH("tenants", "#tenant"),
        TENANT_OF_THE_HOST("tenants", "header('Host').split('[.]')[0]");

        private final String path;

        private final String key;

        Caller(String path, String key) {
            this.path = path;
            this.key = key;
        }

        private Stream<String> rule(int index) {
            String rule = "ratelimit.http[" + index + "].";
            String limit = name().toLowerCase(Locale.ROOT).replace('_', '-');
            return Stream.of(
                    "ratelimit.limits." + limit + ".rate=1/h",
                    "ratelimit.limits." + limit + ".key-expression=" + key,
                    rule + "limit=" + limit,
                    rule + "path=/rule/" + name() + "/" + path + (path.equals("tenants") ? "/{tenant}" : ""));
        }

        private List<Integer> statuses(RunningApplication application, String place) {
            RawHttp http = application.http();
            return NAMES.stream()
                    .map(name -> http.send("GET /" + place + "/" + path(name), header(http, name))
                            .status())
                    .toList();
        }

        private String path(String name) {
            return path.equals("tenants") ? "tenants/" + (this == TENANT_OF_THE_PATH ? name : "any") : path;
        }

        private String header(RawHttp http, String name) {
            return switch (path) {
                case "form" -> login(http, name);
                case "jwt", "opaque" -> "Authorization: Bearer " + name;
                case "key" -> "X-Api-Key: " + name;
                default -> "Host: " + (this == TENANT_OF_THE_HOST ? name : "www") + ".example.com";
            };
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

    private static UserDetails user(String name) {
        return User.withUsername(name).password("{noop}secret").build();
    }

    private static Jwt jwt(String token) {
        return Jwt.withTokenValue(token)
                .header("alg", "none")
                .subject(token)
                .claim("tenant", "tenant of " + token)
                .build();
    }

    private static OAuth2AuthenticatedPrincipal introspected(String token) {
        return new DefaultOAuth2AuthenticatedPrincipal(token, Map.of("tenant", "tenant of " + token), List.of());
    }

    private static @Nullable Authentication owner(@Nullable String apiKey) {
        return apiKey == null ? null : new PreAuthenticatedAuthenticationToken(apiKey, apiKey, List.of());
    }

    /** As the bean of docs/authentication-keys.md. */
    static class Secrets {

        public @Nullable String hash(@Nullable String secret) {
            return secret == null ? null : DigestUtils.md5DigestAsHex(secret.getBytes(StandardCharsets.UTF_8));
        }
    }

    @RestController
    static class ServletHandlers {

        @GetMapping("/rule/**")
        String unlimited() {
            return "any";
        }

        @GetMapping({"/method/any/{scheme}", "/method/any/tenants/{tenant}"})
        @RateLimited(name = "callers")
        String limited(@PathVariable(required = false) @Nullable String tenant) {
            return "any";
        }

        @GetMapping("/user/any/form")
        @RateLimited(name = "users", keyExpression = "#user.username")
        String user(@AuthenticationPrincipal UserDetails user) {
            return "any";
        }

        @GetMapping("/token/any/jwt")
        @RateLimited(name = "tokens", keyExpression = "#token.subject")
        String token(@AuthenticationPrincipal Jwt token) {
            return "any";
        }

        @GetMapping("/session")
        @RateLimited(name = "sessions", keyExpression = "#session.id")
        String session(HttpSession session) {
            return "any";
        }
    }

    @RestController
    static class ReactiveHandlers {

        @GetMapping("/rule/**")
        Mono<String> unlimited() {
            return Mono.just("any");
        }

        @GetMapping({"/method/any/{scheme}", "/method/any/tenants/{tenant}"})
        @RateLimited(name = "callers")
        Mono<String> limited(@PathVariable(required = false) @Nullable String tenant) {
            return Mono.just("any");
        }

        @GetMapping("/user/any/form")
        @RateLimited(name = "users", keyExpression = "#user.username")
        Mono<String> user(@AuthenticationPrincipal UserDetails user) {
            return Mono.just("any");
        }

        @GetMapping("/token/any/jwt")
        @RateLimited(name = "tokens", keyExpression = "#token.subject")
        Mono<String> token(@AuthenticationPrincipal Jwt token) {
            return Mono.just("any");
        }

        @GetMapping("/session")
        @RateLimited(name = "sessions", keyExpression = "#session.id")
        Mono<String> session(WebSession session) {
            return Mono.just("any");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebSecurity
    @Import({ServletHandlers.class, SpringSecurityFilter.class})
    static class ServletApplication {

        @Bean
        @Order(1)
        SecurityFilterChain jwt(HttpSecurity security) {
            return authenticated(security.securityMatcher("/*/*/jwt"))
                    .oauth2ResourceServer(server -> server.jwt(jwt -> jwt.decoder(AuthenticationKeyTests::jwt)))
                    .build();
        }

        @Bean
        @Order(1)
        SecurityFilterChain opaque(HttpSecurity security) {
            return authenticated(security.securityMatcher("/*/*/opaque"))
                    .oauth2ResourceServer(server ->
                            server.opaqueToken(token -> token.introspector(AuthenticationKeyTests::introspected)))
                    .build();
        }

        @Bean
        @Order(1)
        SecurityFilterChain key(HttpSecurity security) {
            AuthenticationFilter filter = new AuthenticationFilter(
                    (AuthenticationManager) key -> key, request -> owner(request.getHeader("X-Api-Key")));
            filter.setSuccessHandler((request, response, authentication) -> {});
            return authenticated(security.securityMatcher("/*/*/key"))
                    .addFilterBefore(filter, AuthorizationFilter.class)
                    .build();
        }

        @Bean
        @Order(1)
        SecurityFilterChain tenants(HttpSecurity security) {
            return security.securityMatcher("/*/*/tenants/*")
                    .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .build();
        }

        @Bean
        @Order(2)
        SecurityFilterChain form(HttpSecurity security) {
            return authenticated(security).formLogin(withDefaults()).build();
        }

        private static HttpSecurity authenticated(HttpSecurity security) {
            return security.csrf(AbstractHttpConfigurer::disable)
                    .authorizeHttpRequests(requests -> requests.anyRequest().authenticated());
        }

        @Bean
        UserDetailsService knownUsers() {
            return AuthenticationKeyTests::user;
        }

        @Bean
        Secrets secrets() {
            return new Secrets();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebFluxSecurity
    @Import(ReactiveHandlers.class)
    static class ReactiveApplication {

        @Bean
        @Order(1)
        SecurityWebFilterChain jwt(ServerHttpSecurity security) {
            return authenticated(security.securityMatcher(path("/*/*/jwt")))
                    .oauth2ResourceServer(server ->
                            server.jwt(jwt -> jwt.jwtDecoder(token -> Mono.just(AuthenticationKeyTests.jwt(token)))))
                    .build();
        }

        @Bean
        @Order(1)
        SecurityWebFilterChain opaque(ServerHttpSecurity security) {
            return authenticated(security.securityMatcher(path("/*/*/opaque")))
                    .oauth2ResourceServer(server ->
                            server.opaqueToken(opaque -> opaque.introspector(token -> Mono.just(introspected(token)))))
                    .build();
        }

        @Bean
        @Order(1)
        SecurityWebFilterChain key(ServerHttpSecurity security) {
            AuthenticationWebFilter filter = new AuthenticationWebFilter((ReactiveAuthenticationManager) Mono::just);
            filter.setServerAuthenticationConverter(exchange ->
                    Mono.justOrEmpty(owner(exchange.getRequest().getHeaders().getFirst("X-Api-Key"))));
            return authenticated(security.securityMatcher(path("/*/*/key")))
                    .addFilterAt(filter, SecurityWebFiltersOrder.AUTHENTICATION)
                    .build();
        }

        @Bean
        @Order(1)
        SecurityWebFilterChain tenants(ServerHttpSecurity security) {
            return security.securityMatcher(path("/*/*/tenants/*"))
                    .authorizeExchange(exchanges -> exchanges.anyExchange().permitAll())
                    .build();
        }

        @Bean
        @Order(2)
        SecurityWebFilterChain form(ServerHttpSecurity security) {
            return authenticated(security).formLogin(withDefaults()).build();
        }

        private static PathPatternParserServerWebExchangeMatcher path(String pattern) {
            return new PathPatternParserServerWebExchangeMatcher(pattern);
        }

        private static ServerHttpSecurity authenticated(ServerHttpSecurity security) {
            return security.csrf(CsrfSpec::disable)
                    .authorizeExchange(exchanges -> exchanges.anyExchange().authenticated());
        }

        @Bean
        ReactiveUserDetailsService knownUsers() {
            return name -> Mono.just(user(name));
        }

        @Bean
        Secrets secrets() {
            return new Secrets();
        }
    }
}
