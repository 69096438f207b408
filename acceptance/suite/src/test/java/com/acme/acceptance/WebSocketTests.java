package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A plain WebSocket, and server-sent events. */
class WebSocketTests {

    private static final Application APPLICATION = Application.start("websocket");

    private final String user = UUID.randomUUID().toString();

    @ParameterizedTest
    @CsvSource({"/socket, handshakes", "/intercepted, welcomes"})
    void aRejectedHandshakeIsAProblem(String path, String limit) {
        new Session(path, user).close();
        HttpResponse<?> rejection = rejectedHandshake(path);
        assertThat(rejection.statusCode()).isEqualTo(429);
        assertThat(rejection.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(rejection.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(86_000L, 86_400L);
        assertQuiet(limit);
    }

    @Test
    void aRejectedMessageOfAnAnnotatedHandlerClosesTheSession() {
        try (Session session = new Session("/echo", user)) {
            session.send("first");
            assertThat(session.receive()).isEqualTo("first");
            session.send("second");
            assertThat(session.receive()).isEqualTo("closed by 1011");
        }
        assertThat(APPLICATION.log()).containsPattern(" ERROR .*\\R(?:.*\\R)*?.*Rate limit 'messages' exceeded");
    }

    @Test
    void aHandlerThatTakesPermitsAnswersAndKeepsTheSession() {
        try (Session session = new Session("/greeter", user)) {
            for (String answer : new String[] {"hello world", "slow down", "slow down"}) {
                session.send("world");
                assertThat(session.receive()).isEqualTo(answer);
            }
        }
        assertQuiet("greetings");
    }

    @Test
    void anOpenConnectionHoldsItsPermit() {
        Session first = new Session("/greeter", user);
        first.send("world");
        assertThat(first.receive()).isEqualTo("hello world");
        try (Session second = new Session("/greeter", user)) {
            assertThat(second.receive()).isEqualTo("closed by 1008");
        }
        assertQuiet("connections");
        first.close();
        Await.until("the permit of the closed connection", () -> {
            try (Session next = new Session("/greeter", user)) {
                next.send("world");
                return next.receive().equals("hello world");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"flux", "emitter"})
    void rejectedEventsAreAProblem(String kind) {
        String path = "/events/" + user + "/" + kind;
        assertThat(APPLICATION.allowed(path, "Accept", "text/event-stream").body())
                .isEqualTo("data:0\n\n");
        APPLICATION.rejected(kind + "-starts", path, "Accept", "text/event-stream");
        APPLICATION.rejected(kind + "-starts", path);
        assertThat(APPLICATION
                        .get(path, "Accept", "text/event-stream")
                        .headers()
                        .firstValue("Content-Type"))
                .contains("application/problem+json");
        assertQuiet(kind + "-starts");
    }

    @ParameterizedTest
    @EnumSource(
            value = ClientEnd.class,
            names = {"FIN", "RST"})
    void eventsHoldTheirPermitUntilTheClientGoes(ClientEnd end) throws IOException {
        for (String kind : new String[] {"flux", "emitter"}) {
            String path = "/events/" + kind + "?count=";
            Await.until("the permit", () -> APPLICATION.get(path + 2).statusCode() == 200);
            // Released when the stream has ended, with its last event.
            Await.until(
                    "the permit of the ended stream",
                    () -> APPLICATION.get(path + 2).statusCode() == 200);
            assertThat(end.request(APPLICATION.port(), path + Integer.MAX_VALUE, Duration.ofMillis(200)))
                    .isTrue();
            Await.until(
                    "the permit of the " + kind, () -> APPLICATION.get(path + 2).statusCode() == 200);
            assertQuiet(kind + "s");
        }
    }

    private HttpResponse<?> rejectedHandshake(String path) {
        CompletionException failure = catchThrowableOfType(CompletionException.class, () -> new Session(path, user));
        assertThat(failure).hasCauseInstanceOf(WebSocketHandshakeException.class);
        return ((WebSocketHandshakeException) failure.getCause()).getResponse();
    }

    private static void assertQuiet(String limit) {
        assertThat(APPLICATION.log()).doesNotContain("Rate limit '" + limit + "' exceeded");
    }

    /** What the server sends arrives in one queue. */
    private static final class Session implements WebSocket.Listener, AutoCloseable {

        private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();

        private final WebSocket socket;

        Session(String path, String user) {
            socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .header("X-User", user)
                    .buildAsync(URI.create("ws://127.0.0.1:" + APPLICATION.port() + path), this)
                    .join();
        }

        void send(String text) {
            socket.sendText(text, true).join();
        }

        String receive() {
            try {
                String received = messages.poll(60, TimeUnit.SECONDS);
                assertThat(received).as("a message").isNotNull();
                return received;
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(ex);
            }
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence text, boolean last) {
            messages.add(text.toString());
            from.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
            messages.add("closed by " + status);
            return null;
        }

        @Override
        public void close() {
            socket.abort();
        }
    }
}
