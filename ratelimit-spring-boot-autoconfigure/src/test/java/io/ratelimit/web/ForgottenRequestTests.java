package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Clients of Tomcat that disconnect while an emitter writes, whose handler ignores the failure, as Spring's documentation
 * advises. Tomcat tells no end of a few of a hundred of these requests.
 */
@Timeout(180)
@LongRunning
class ForgottenRequestTests {

    private static final int REQUESTS = 400;

    /** What the handler has used does not matter: an estimate of 100 becomes 1. */
    private static final int COST = 1;

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.streams.algorithm=concurrency",
            "ratelimit.limits.streams.capacity=" + REQUESTS,
            "ratelimit.http[0].path=/events",
            "ratelimit.http[0].limit=streams",
            "ratelimit.limits.events.algorithm=fixed-window",
            "ratelimit.limits.events.rate=1000000/d");

    private final Random random = TestRandom.create(ForgottenRequestTests.class);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void requestsWhoseClientsDisconnectHoldNothingAndAreSettled(boolean reset) throws Exception {
        application.limiter("events").allCallers().reset();
        AtomicInteger admitted = application.bean(AtomicInteger.class);
        admitted.set(0);
        ExecutorService clients = Executors.newFixedThreadPool(16);
        try {
            List<Future<?>> requests = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                long readFor = random.nextLong(15_000_000);
                requests.add(clients.submit(() -> {
                    disconnect(reset, readFor);
                    return null;
                }));
            }
            for (Future<?> request : requests) {
                request.get();
            }
        } finally {
            clients.shutdownNow();
        }
        assertThat(admitted).hasValue(REQUESTS);
        await().untilAsserted(() -> {
            assertThat(application.limiter("streams").allCallers().peek().remaining())
                    .isEqualTo(REQUESTS);
            assertThat(1_000_000
                            - application.limiter("events").allCallers().peek().remaining())
                    .isEqualTo(REQUESTS * COST);
        });
    }

    private void disconnect(boolean reset, long readForNanos) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), application.port())) {
            socket.setSoTimeout(60_000);
            socket.setSoLinger(reset, 0);
            socket.getOutputStream()
                    .write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo('H');
            LockSupport.parkNanos(readForNanos);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        AtomicInteger admitted() {
            return new AtomicInteger();
        }

        @Bean
        Events events(AtomicInteger admitted) {
            return new Events(admitted);
        }
    }

    @RestController
    static class Events {

        private final AtomicInteger admitted;

        Events(AtomicInteger admitted) {
            this.admitted = admitted;
        }

        /** Without a timeout. */
        @RateLimited(name = "events", permits = "100", permitsAfter = "1")
        @GetMapping("/events")
        public SseEmitter events() {
            admitted.incrementAndGet();
            SseEmitter emitter = new SseEmitter(0L);
            new Thread(() -> send(emitter)).start();
            return emitter;
        }

        private static void send(SseEmitter emitter) {
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    emitter.send("event");
                    LockSupport.parkNanos(2_000_000);
                }
            } catch (IOException | IllegalStateException ex) {
                // The container is told, and tells the emitter.
            }
        }
    }
}
