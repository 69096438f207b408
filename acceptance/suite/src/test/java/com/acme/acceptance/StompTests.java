package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Messages of STOMP, frame by frame. */
class StompTests {

    private static final Application APPLICATION = Application.start("stomp");

    @Test
    void aRejectedMessageIsAnsweredToItsSession() {
        Session session = new Session();
        String user = "user:" + UUID.randomUUID();
        session.send("/app/quote", user);
        assertThat(session.receive()).contains("destination:/user/queue/answers").endsWith("\n\n42");
        session.send("/app/quote", user);
        assertThat(session.receive())
                .contains("destination:/user/queue/errors", "\"status\":429", "\"detail\":\"Rate limit 'quotes' exceeded\"")
                .containsPattern("\"retry-after\":86[34]\\d\\d");
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException");
    }

    @Test
    void aMessageWithoutItsKeyIsABadRequest() {
        Session session = new Session();
        session.send("/app/quote", "other:1");
        assertThat(session.receive()).contains("destination:/user/queue/errors", "\"status\":400");
    }

    @Test
    void aPermitIsHeldUntilTheMethodReturns() {
        Session first = new Session();
        first.send("/app/held", "number:1");
        Session second = new Session();
        Await.until("the first message to hold its permit", () -> {
            second.send("/app/held", "number:2");
            String answer = second.receiveWithin(1);
            return answer != null && answer.contains("\"status\":429");
        });
        second.send("/app/release", "number:3");
        Await.until("the release", () -> {
            String answer = first.receiveWithin(1);
            return answer != null && answer.endsWith("released");
        });
        first.send("/app/release", "number:4");
        first.send("/app/held", "number:5");
        assertThat(first.receive()).endsWith("released");
    }

    /** What the server sends arrives in one queue, without the zero at the end of a frame. */
    private static final class Session implements WebSocket.Listener {

        private final BlockingQueue<String> frames = new LinkedBlockingQueue<>();

        private final Set<String> subscribed = ConcurrentHashMap.newKeySet();

        private final StringBuilder frame = new StringBuilder();

        private final WebSocket socket;

        Session() {
            socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(URI.create("ws://127.0.0.1:" + APPLICATION.port() + "/stomp"), this)
                    .join();
            write("CONNECT", "accept-version:1.2\nhost:localhost");
            assertThat(receive()).startsWith("CONNECTED");
            write("SUBSCRIBE", "id:answers\ndestination:/user/queue/answers");
            write("SUBSCRIBE", "id:errors\ndestination:/user/queue/errors");
            // Until the broker knows of both, what it gets for them is lost.
            Await.until("the subscriptions", () -> {
                send("/app/ping", "number:0");
                return subscribed.size() == 2;
            });
        }

        void send(String destination, String header) {
            write("SEND", "destination:" + destination + "\n" + header);
        }

        private void write(String command, String headers) {
            socket.sendText(command + "\n" + headers + "\n\n\0", true).join();
        }

        String receive() {
            String received = receiveWithin(60);
            assertThat(received).as("a frame").isNotNull();
            return received;
        }

        String receiveWithin(int seconds) {
            try {
                return frames.poll(seconds, TimeUnit.SECONDS);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(ex);
            }
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence text, boolean last) {
            frame.append(text);
            if (last) {
                String received = frame.toString().replace("\0", "");
                if (received.endsWith("pong")) {
                    subscribed.add(received.lines()
                            .filter(line -> line.startsWith("subscription:"))
                            .findFirst()
                            .orElseThrow());
                } else {
                    frames.add(received);
                }
                frame.setLength(0);
            }
            from.request(1);
            return null;
        }
    }
}
