package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage.Snippet;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.web.SpringSecurityFilter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The recipe, as an application of either stack: what its page says is what it does. */
@LongRunning
class SpringSecurityRecipeTests {

    private static final MarkdownPage PAGE = MarkdownPage.of("docs/recipes/spring-security.md");

    private static final String OVERRIDE = "{\"capacity\": 100}";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private int port;

    @Test
    void servletApplicationIsLimitedAsThePageSays() throws Exception {
        assertLimited(WebApplicationType.SERVLET, "ServletSecurity");
    }

    @Test
    void reactiveApplicationIsLimitedAsThePageSays() throws Exception {
        assertLimited(WebApplicationType.REACTIVE, "ReactiveSecurity");
    }

    private void assertLimited(WebApplicationType stack, String chain) throws Exception {
        List<Snippet> code = snippets("java").stream()
                .filter(snippet -> snippet.text().contains("class " + chain + " ")
                        || snippet.text().contains("implements RateLimitKeyResolver"))
                .toList();
        assertThat(code).hasSize(2);
        try (JavaSnippets java = JavaSnippets.compile(code)) {
            List<Class<?>> beans = new ArrayList<>();
            for (Snippet snippet : code) {
                beans.addAll(java.beans(snippet));
            }
            try (ConfigurableApplicationContext application = start(stack, beans)) {
                port = Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port"));
                assertUsersAndRolesAreLimited();
                assertWrongPasswordsAreLimited();
            }
        }
    }

    private void assertUsersAndRolesAreLimited() {
        assertThat(Stream.of("alice", "alice", "bob", "alice", "alice").map(user -> get("/api/orders", user)))
                .containsExactly(200, 200, 200, 200, 429);
        assertThat(get("/actuator/health", null)).isEqualTo(200);
        assertThat(get("/actuator/ratelimits", "alice")).isEqualTo(403);
        assertThat(get("/actuator/ratelimits", "support")).isEqualTo(200);
        assertThat(post("/actuator/ratelimits/user-calls", "support")).isEqualTo(403);
        assertThat(post("/actuator/ratelimits/user-calls", "operator")).isEqualTo(200);
        assertThat(get("/api/orders", "alice")).isEqualTo(200);
    }

    /** Five of a name, twenty of the address. What succeeds, and what has no password, costs nothing. */
    private void assertWrongPasswordsAreLimited() {
        assertThat(Stream.generate(() -> get("/api/orders", null)).limit(25)).containsOnly(401);
        assertThat(guesses("alice", 6)).containsExactly(401, 401, 401, 401, 401, 429);
        assertThat(get("/api/orders", "ALICE")).isEqualTo(429);
        assertThat(get("/api/orders", "bob")).isEqualTo(200);
        assertThat(guesses("support", 5)).containsOnly(401);
        assertThat(guesses("operator", 5)).containsOnly(401);
        assertThat(guesses("bob", 6)).containsExactly(401, 401, 401, 401, 401, 429);
        assertThat(get("/api/orders", "carol")).isEqualTo(429);
    }

    private List<Integer> guesses(String user, int count) {
        return Stream.generate(() -> get("/api/orders", user + ":wrong"))
                .limit(count)
                .toList();
    }

    private static List<Snippet> snippets(String language) {
        return PAGE.snippets().stream().filter(snippet -> snippet.is(language)).toList();
    }

    private static ConfigurableApplicationContext start(WebApplicationType stack, List<Class<?>> security) {
        return new SpringApplicationBuilder(Api.class)
                .sources(security.toArray(Class<?>[]::new))
                .web(stack)
                .initializers(context -> DocumentedApplication.configuration(
                                snippets("yaml").get(0))
                        .forEach(context.getEnvironment().getPropertySources()::addLast))
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--ratelimit.store=in-memory",
                        // Another thread checks passwords on WebFlux: reactor-netty#4361.
                        "--server.netty.max-keep-alive-requests=1");
    }

    private int get(String path, String user) {
        return send(path, user, HttpRequest.newBuilder().GET());
    }

    private int post(String path, String user) {
        return send(
                path,
                user,
                HttpRequest.newBuilder()
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(OVERRIDE)));
    }

    private int send(String path, String user, HttpRequest.Builder request) {
        request.uri(URI.create("http://127.0.0.1:" + port + path));
        if (user != null) {
            String credentials = user.contains(":") ? user : user + ":secret";
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
        }
        HttpResponse<Void> response = client.sendAsync(request.build(), BodyHandlers.discarding())
                .orTimeout(30, TimeUnit.SECONDS)
                .join();
        return response.statusCode();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Orders.class, SpringSecurityFilter.class})
    static class Api {

        private static final List<UserDetails> USERS = Stream.of("alice", "bob", "support", "operator")
                .map(name -> User.withUsername(name)
                        .password("{noop}secret")
                        .roles(name.toUpperCase(Locale.ROOT))
                        .build())
                .toList();

        @Bean
        InMemoryUserDetailsManager users() {
            return new InMemoryUserDetailsManager(USERS);
        }

        @Bean
        MapReactiveUserDetailsService reactiveUsers() {
            return new MapReactiveUserDetailsService(USERS);
        }
    }

    @RestController
    static class Orders {

        @GetMapping("/api/orders")
        String orders() {
            return "none";
        }
    }
}
