package io.ratelimit.stomp;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.tomcat.websocket.server.WsSci;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.messaging.handler.annotation.DestinationVariable;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.messaging.simp.stomp.StompFrameHandler;
import org.springframework.messaging.simp.stomp.StompHeaders;
import org.springframework.messaging.simp.stomp.StompSession;
import org.springframework.messaging.simp.stomp.StompSessionHandlerAdapter;
import org.springframework.stereotype.Controller;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.client.standard.StandardWebSocketClient;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.messaging.WebSocketStompClient;
import org.springframework.web.socket.server.support.DefaultHandshakeHandler;

/** Limits of methods that handle STOMP messages, with Spring's client and Tomcat. */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class StompTests {

    private static ConfigurableApplicationContext context;

    @BeforeAll
    static void start() {
        context = new SpringApplicationBuilder(Application.class)
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--spring.main.banner-mode=off",
                        "--ratelimit.store=in-memory");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/app/user", "/app/user-later"})
    void principalIsTheUserOfTheSession(String destination) throws Exception {
        Client alice = new Client("alice");
        Client bob = new Client("bob");
        assertThat(alice.send(destination)).isEqualTo("answer");
        assertThat(alice.send(destination))
                .startsWith("{\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"Rate limit '")
                .endsWith("' exceeded\",\"retry-after\":3600}");
        assertThat(bob.send(destination)).isEqualTo("answer");
    }

    @Test
    void clientIpIsTheAddressOfTheSession() throws Exception {
        assertThat(new Client("carol").send("/app/address")).isEqualTo("answer");
        assertThat(new Client("dave").send("/app/address")).contains("\"status\":429");
    }

    @Test
    void headerIsOneOfTheFrame() throws Exception {
        Client client = new Client("erin");
        assertThat(client.send("/app/header", "tenant", "a")).isEqualTo("answer");
        assertThat(client.send("/app/header", "tenant", "b")).isEqualTo("answer");
        assertThat(client.send("/app/header", "tenant", "a")).contains("\"status\":429");
        assertThat(client.send("/app/header")).contains("\"status\":400");
    }

    @Test
    void handlerOfTheApplicationComesFirst() throws Exception {
        Client client = new Client("frank");
        assertThat(client.send("/app/handled")).isEqualTo("answer");
        assertThat(client.send("/app/handled")).isEqualTo("too many: handled");
    }

    @Test
    void rejectionIsNotLogged(CapturedOutput output) throws Exception {
        Client client = new Client("grace");
        assertThat(client.send("/app/user")).isEqualTo("answer");
        assertThat(client.send("/app/user")).contains("\"status\":429");
        assertThat(output.getAll()).doesNotContain("RateLimitExceededException");
    }

    /** A user with a session. What the server sends arrives in one queue. */
    private static final class Client implements StompFrameHandler {

        private static final Set<String> QUEUES = Set.of("answers", "errors");

        private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

        private final StompSession session;

        Client(String user) throws Exception {
            String port = context.getEnvironment().getRequiredProperty("local.server.port");
            WebSocketStompClient client = new WebSocketStompClient(new StandardWebSocketClient());
            session = client.connectAsync(
                            "ws://127.0.0.1:" + port + "/stomp?" + user, new StompSessionHandlerAdapter() {})
                    .get(10, TimeUnit.SECONDS);
            subscribe("answers");
            subscribe("errors");
        }

        /** A message that is sent before the broker knows of the subscription is lost, and no receipt tells when it does. */
        private void subscribe(String queue) throws InterruptedException {
            session.subscribe("/user/queue/" + queue, this);
            do {
                session.send("/app/echo/" + queue, new byte[0]);
            } while (!queue.equals(answers.poll(1, TimeUnit.SECONDS)));
        }

        @Override
        public Type getPayloadType(StompHeaders headers) {
            return byte[].class;
        }

        @Override
        public void handleFrame(StompHeaders headers, Object payload) {
            answers.add(new String((byte[]) payload, StandardCharsets.UTF_8));
        }

        /** Returns the answer. Late echoes are none. */
        String send(String destination, String... header) throws InterruptedException {
            StompHeaders headers = new StompHeaders();
            headers.setDestination(destination);
            if (header.length > 0) {
                headers.set(header[0], header[1]);
            }
            session.send(headers, new byte[0]);
            String answer;
            do {
                answer = answers.poll(10, TimeUnit.SECONDS);
            } while (answer != null && QUEUES.contains(answer));
            return answer;
        }
    }

    @Controller
    static class Answers {

        @MessageMapping("/echo/{queue}")
        @SendToUser(destinations = "/queue/{queue}", broadcast = false)
        String echo(@DestinationVariable String queue) {
            return queue;
        }

        @MessageMapping("/user")
        @SendToUser(destinations = "/queue/answers", broadcast = false)
        @RateLimited(name = "users", rate = "1/h", keyExpression = "principal")
        public String byUser() {
            return "answer";
        }

        @MessageMapping("/user-later")
        @SendToUser(destinations = "/queue/answers", broadcast = false)
        @RateLimited(name = "later", rate = "1/h", keyExpression = "principal.name")
        public CompletableFuture<String> byUserLater() {
            return CompletableFuture.completedFuture("answer");
        }

        @MessageMapping("/address")
        @SendToUser(destinations = "/queue/answers", broadcast = false)
        @RateLimited(name = "addresses", rate = "1/h", keyExpression = "clientIp")
        public String byAddress() {
            return "answer";
        }

        @MessageMapping("/header")
        @SendToUser(destinations = "/queue/answers", broadcast = false)
        @RateLimited(name = "headers", rate = "1/h", keyExpression = "header('tenant')")
        public String byHeader() {
            return "answer";
        }
    }

    @Controller
    static class Handled {

        @MessageMapping("/handled")
        @SendToUser(destinations = "/queue/answers", broadcast = false)
        @RateLimited(name = "handled", rate = "1/h")
        public String handled() {
            return "answer";
        }

        @MessageExceptionHandler
        @SendToUser(destinations = "/queue/answers", broadcast = false)
        public String rejected(RateLimitExceededException rejection) {
            return "too many: " + rejection.getLimitName();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebSocketMessageBroker
    @Import({Answers.class, Handled.class})
    static class Application implements WebSocketMessageBrokerConfigurer {

        @Override
        public void registerStompEndpoints(StompEndpointRegistry registry) {
            registry.addEndpoint("/stomp").setHandshakeHandler(new DefaultHandshakeHandler() {

                @Override
                protected Principal determineUser(
                        ServerHttpRequest request, WebSocketHandler handler, Map<String, Object> attributes) {
                    String user = request.getURI().getQuery();
                    return () -> user;
                }
            });
        }

        @Override
        public void configureMessageBroker(MessageBrokerRegistry registry) {
            registry.enableSimpleBroker("/queue");
            registry.setApplicationDestinationPrefixes("/app");
        }

        /** As Spring Boot does. */
        @Bean
        ServletContextInitializer webSockets() {
            return servlets -> new WsSci().onStartup(Set.of(), servlets);
        }
    }
}
