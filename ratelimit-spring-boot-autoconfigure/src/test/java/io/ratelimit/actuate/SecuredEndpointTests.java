package io.ratelimit.actuate;

import static io.ratelimit.actuate.EndpointApplication.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.actuate.EndpointApplication.Answer;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** Behind Spring Security, a change has an author: in the answer, the log and Spring Boot's audit. */
@LongRunning
class SecuredEndpointTests {

    private static final String[] OPERATOR = {"Authorization", "Basic b3BlcmF0b3I6c2VjcmV0"};

    enum Stack {
        SERVLET(WebApplicationType.SERVLET, ServletApplication.class),
        REACTIVE(WebApplicationType.REACTIVE, ReactiveApplication.class);

        private final WebApplicationType type;

        private final Class<?> source;

        Stack(WebApplicationType type, Class<?> source) {
            this.type = type;
            this.source = source;
        }
    }

    @ParameterizedTest
    @EnumSource
    void changeHasTheAuthenticatedPrincipalAsItsAuthor(Stack stack) {
        try (LogRecorder log = new LogRecorder("io.ratelimit");
                EndpointApplication application = new EndpointApplication(
                        stack.type,
                        stack.source,
                        "ratelimit.limits.quotes.capacity=5",
                        "management.endpoint.ratelimits.access=unrestricted")) {
            assertThat(application.get("/quotes").status()).isEqualTo(401);
            assertThat(application.post("/quotes", "{\"capacity\": 9}").status())
                    .isEqualTo(401);
            assertThat(application.delete("/quotes").status()).isEqualTo(401);

            Answer changed = application.send("POST", "/quotes", "{\"capacity\": 9}", OPERATOR);
            assertThat(changed.status()).as(changed.body()).isEqualTo(200);
            assertThat(changed.json("override")).containsEntry("principal", "operator");
            String bucket = "/quotes" + key("secret-key");
            assertThat(application
                            .send("POST", bucket, "{\"blockFor\": \"10m\"}", OPERATOR)
                            .status())
                    .isEqualTo(200);
            assertThat(application.send("DELETE", bucket, null, OPERATOR).status())
                    .isEqualTo(200);
            assertThat(application.send("DELETE", "/quotes", null, OPERATOR).status())
                    .isEqualTo(200);

            InMemoryAuditEventRepository audit = application.context().getBean(InMemoryAuditEventRepository.class);
            await().until(() -> changes(audit).size() == 4);
            assertThat(changes(audit))
                    .allMatch(event -> event.getPrincipal().equals("operator"))
                    .extracting(event -> event.getData().get("kind"))
                    .containsExactly("overridden", "blocked", "reset", "override_removed");
            assertThat(changes(audit).toString()).doesNotContain("secret-key");
            assertThat(log.lines().stream().filter(line -> line.contains("by operator")))
                    .hasSize(4);
        }
    }

    private static List<AuditEvent> changes(InMemoryAuditEventRepository audit) {
        return audit.find(null, null, ChangeAuditor.TYPE);
    }

    private static UserDetails operator() {
        return User.withUsername("operator")
                .password("{noop}secret")
                .roles("OPERATOR")
                .build();
    }

    @EnableWebSecurity
    @Import(InMemoryAuditEventRepository.class)
    static class ServletApplication extends EndpointApplication.Quotes {

        @Bean
        SecurityFilterChain operatorsOnly(HttpSecurity security) throws Exception {
            return security.authorizeHttpRequests(
                            requests -> requests.anyRequest().hasRole("OPERATOR"))
                    .httpBasic(Customizer.withDefaults())
                    .csrf(AbstractHttpConfigurer::disable)
                    .build();
        }

        @Bean
        UserDetailsService operators() {
            return new InMemoryUserDetailsManager(operator());
        }
    }

    @EnableWebFluxSecurity
    @Import(InMemoryAuditEventRepository.class)
    static class ReactiveApplication extends EndpointApplication.Quotes {

        @Bean
        SecurityWebFilterChain operatorsOnly(ServerHttpSecurity security) {
            return security.authorizeExchange(
                            exchanges -> exchanges.anyExchange().hasRole("OPERATOR"))
                    .httpBasic(Customizer.withDefaults())
                    .csrf(ServerHttpSecurity.CsrfSpec::disable)
                    .build();
        }

        @Bean
        MapReactiveUserDetailsService operators() {
            return new MapReactiveUserDetailsService(operator());
        }
    }
}
