package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.ratelimit.annotation.RateLimited;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.tomcat.websocket.server.WsSci;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;
import org.springframework.web.socket.handler.TextWebSocketHandler;
import org.springframework.web.socket.server.HandshakeInterceptor;

/** What limits do to WebSocket, with the client of the JDK and Tomcat, as docs/websocket.md has it. */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class WebSocketTests {

    private static final HttpClient client = HttpClient.newHttpClient();

    @RegisterExtension
    static final RunningApplication server = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.handshakes.rate=1/h",
            "ratelimit.http[0].path=/ruled",
            "ratelimit.http[0].limit=handshakes");

    @ParameterizedTest
    @CsvSource({"ruled, handshakes", "intercepted, interceptions"})
    void rejectedHandshakeIsAProblemAndOpensNoConnection(String path, String limit) {
        open(path, new Received()).abort();
        Throwable failure = catchThrowable(() -> open(path, new Received()));
        assertThat(failure).hasCauseInstanceOf(WebSocketHandshakeException.class);
        HttpResponse<?> response = ((WebSocketHandshakeException) failure.getCause()).getResponse();
        assertThat(response.statusCode()).isEqualTo(429);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(response.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(1L, 3600L);
        assertThat(response.headers().firstValue("RateLimit").orElseThrow()).startsWith('"' + limit + "\";r=0");
    }

    @Test
    void rejectedMessageClosesTheSessionAndIsLogged(CapturedOutput output) throws Exception {
        Received received = new Received();
        WebSocket session = open("limited", received);
        session.sendText("first", true).join();
        assertThat(received.text.get(30, TimeUnit.SECONDS)).isEqualTo("answer");
        session.sendText("second", true).join();
        assertThat(received.status.get(30, TimeUnit.SECONDS)).isEqualTo(1011);
        assertThat(output.getAll().lines().filter(line -> line.contains(" ERROR ")))
                .singleElement(STRING)
                .contains("Closing session due to exception");
    }

    private static WebSocket open(String path, WebSocket.Listener listener) {
        return client.newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + server.port() + "/" + path), listener)
                .join();
    }

    private static final class Received implements WebSocket.Listener {

        private final CompletableFuture<String> text = new CompletableFuture<>();

        private final CompletableFuture<Integer> status = new CompletableFuture<>();

        @Override
        public CompletionStage<?> onText(WebSocket session, CharSequence data, boolean last) {
            text.complete(data.toString());
            session.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket session, int code, String reason) {
            status.complete(code);
            return null;
        }
    }

    static class Limited extends TextWebSocketHandler {

        @Override
        @RateLimited(name = "messages", rate = "1/h")
        public void handleMessage(WebSocketSession session, WebSocketMessage<?> message) throws Exception {
            session.sendMessage(new TextMessage("answer"));
        }
    }

    static class Intercepting implements HandshakeInterceptor {

        @Override
        @RateLimited(name = "interceptions", rate = "1/h")
        public boolean beforeHandshake(
                ServerHttpRequest request,
                ServerHttpResponse response,
                WebSocketHandler handler,
                Map<String, Object> attributes) {
            return true;
        }

        @Override
        public void afterHandshake(
                ServerHttpRequest request, ServerHttpResponse response, WebSocketHandler handler, Exception failure) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableWebSocket
    static class Application {

        @Bean
        Limited limited() {
            return new Limited();
        }

        @Bean
        Intercepting intercepting() {
            return new Intercepting();
        }

        @Bean
        WebSocketConfigurer handlers(Limited limited, Intercepting intercepting) {
            return (WebSocketHandlerRegistry registry) -> {
                registry.addHandler(limited, "/limited");
                registry.addHandler(new TextWebSocketHandler(), "/ruled");
                registry.addHandler(new TextWebSocketHandler(), "/intercepted").addInterceptors(intercepting);
            };
        }

        /** As Spring Boot does. */
        @Bean
        ServletContextInitializer webSockets() {
            return servlets -> new WsSci().onStartup(Set.of(), servlets);
        }
    }
}
