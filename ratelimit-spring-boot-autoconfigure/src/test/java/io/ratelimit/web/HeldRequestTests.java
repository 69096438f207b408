package io.ratelimit.web;

import static io.ratelimit.web.StreamedPieces.END;
import static io.ratelimit.web.StreamedPieces.FAILURE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LongRunning;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;

/** Requests of a URL rule hold their permits until the response is complete, or the client has gone. */
@LongRunning
@Timeout(180)
class HeldRequestTests {

    @Nested
    class OnTomcat extends Contract {

        OnTomcat() {
            super(WebApplicationType.SERVLET, ServletApplication.class);
        }

        @Test
        void silentHandlerHoldsUntilItEndsAlsoIfTheClientHasGone() throws Exception {
            StreamedResponse silent = open("silent");
            await().until(() -> !isFree("silent"));
            silent.close();
            // The server has had every chance to notice.
            assertThat(get("elsewhere").status()).isEqualTo(404);
            assertThat(isFree("silent")).isFalse();
            pieces().write(END);
            await().until(() -> isFree("silent"));
        }
    }

    @Nested
    class OnNetty extends Contract {

        OnNetty() {
            super(WebApplicationType.REACTIVE, ReactiveApplication.class);
        }
    }

    abstract static class Contract extends StreamingApplicationContract {

        Contract(WebApplicationType type, Class<?> application) {
            super(
                    type,
                    application,
                    "ratelimit.limits.streams.algorithm=concurrency",
                    "ratelimit.limits.streams.capacity=1",
                    "ratelimit.http[0].path=/stream",
                    "ratelimit.http[0].limit=streams",
                    "ratelimit.limits.silent.algorithm=concurrency",
                    "ratelimit.limits.silent.capacity=1",
                    "ratelimit.http[1].path=/silent",
                    "ratelimit.http[1].limit=silent");
        }

        @Test
        void streamIsHeldUntilItsLastByte() throws Exception {
            try (StreamedResponse stream = open("stream")) {
                stream.pass("first");
                assertHeld();
                stream.pass("second");
                assertHeld();
                pieces().write(END);
                // The last chunk.
                stream.readUntil("0");
            }
            awaitReleased();
        }

        @Test
        void clientThatDisconnectsReleases() throws Exception {
            try (StreamedResponse stream = open("stream")) {
                stream.pass("first");
                assertHeld();
            }
            // Tomcat finds out when it writes.
            await().untilAsserted(() -> {
                pieces().write("unread");
                assertThat(isFree()).isTrue();
            });
        }

        @Test
        void failureInTheMiddleReleases() throws Exception {
            try (StreamedResponse stream = open("stream")) {
                stream.pass("first");
                assertHeld();
                pieces().write(FAILURE);
                awaitReleased();
            }
        }

        private void assertHeld() {
            assertThat(isFree()).isFalse();
            assertThat(get("stream").status()).isEqualTo(429);
        }

        private void awaitReleased() {
            await().untilAsserted(() -> assertThat(isFree()).isTrue());
        }

        private boolean isFree() {
            return isFree("streams");
        }

        final boolean isFree(String limit) {
            return limiter(limit).allCallers().peek().allowed();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ServletApplication {

        @Bean
        StreamedPieces pieces() {
            return new StreamedPieces();
        }

        @Bean
        ServletHandler handler(StreamedPieces pieces) {
            return new ServletHandler(pieces);
        }
    }

    @RestController
    static class ServletHandler {

        private final StreamedPieces pieces;

        ServletHandler(StreamedPieces pieces) {
            this.pieces = pieces;
        }

        @GetMapping("/stream")
        public StreamingResponseBody stream(HttpServletResponse response) {
            return new StreamedPieces.Body(pieces, response);
        }

        /** Writes nothing until it ends. */
        @GetMapping("/silent")
        public String silent() {
            return String.valueOf(pieces.source().all().blockLast());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ReactiveApplication {

        @Bean
        StreamedPieces pieces() {
            return new StreamedPieces();
        }

        @Bean
        ReactiveHandler handler(StreamedPieces pieces) {
            return new ReactiveHandler(pieces);
        }
    }

    @RestController
    static class ReactiveHandler {

        private final StreamedPieces pieces;

        ReactiveHandler(StreamedPieces pieces) {
            this.pieces = pieces;
        }

        @GetMapping(path = "/stream", produces = MediaType.APPLICATION_NDJSON_VALUE)
        public Flux<String> stream() {
            return pieces.source().all();
        }
    }
}
