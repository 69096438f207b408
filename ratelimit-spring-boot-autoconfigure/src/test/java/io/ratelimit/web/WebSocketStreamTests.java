package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.server.support.WebSocketHandlerAdapter;
import reactor.core.publisher.Flux;

/** A stream of a WebSocket on Netty, whose exchange is over when the socket is open. */
@Timeout(60)
class WebSocketStreamTests {

    @RegisterExtension
    static final RunningApplication server = new RunningApplication(WebApplicationType.REACTIVE, Application.class);

    @Test
    void openSocketHoldsItsPermit() throws Exception {
        CountDownLatch five = new CountDownLatch(5);
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + server.port() + "/ws"), new WebSocket.Listener() {
                    @Override
                    public CompletionStage<?> onText(WebSocket s, CharSequence data, boolean last) {
                        five.countDown();
                        s.request(1);
                        return null;
                    }
                })
                .join();
        assertThat(five.await(20, TimeUnit.SECONDS)).isTrue();
        long remaining = server.limiter("feed").allCallers().peek().remaining();
        socket.abort();
        assertThat(remaining).isEqualTo(4);
    }

    public static class Feed {

        @RateLimited(name = "feed", algorithm = Algorithm.CONCURRENCY, capacity = 5)
        public Flux<String> feed() {
            return Flux.interval(Duration.ofMillis(50)).map(Object::toString);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Feed feed() {
            return new Feed();
        }

        @Bean
        HandlerMapping sockets(Feed feed) {
            WebSocketHandler handler = session -> session.send(feed.feed().map(session::textMessage));
            return new SimpleUrlHandlerMapping(Map.of("/ws", handler), -1);
        }

        @Bean
        WebSocketHandlerAdapter adapter() {
            return new WebSocketHandlerAdapter();
        }
    }
}
