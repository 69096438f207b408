package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;

/** Tests of an application with a {@link StreamedPieces} bean, whose responses are written and read piece by piece. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StreamingApplicationContract {

    @RegisterExtension
    final RunningApplication application;

    StreamingApplicationContract(WebApplicationType type, Class<?> source, String... properties) {
        application = new RunningApplication(type, source, properties);
    }

    @BeforeEach
    final void clearPieces() {
        pieces().clear();
    }

    final StreamedPieces pieces() {
        return application.bean(StreamedPieces.class);
    }

    final RateLimiter limiter(String name) {
        return application.limiter(name);
    }

    /** Reads the whole response. */
    final RawHttp.Answer get(String path) {
        return application.get(path);
    }

    /** Begins to read a response. */
    final StreamedResponse open(String path) throws IOException {
        return new StreamedResponse(path);
    }

    /** A response that is read piece by piece. */
    final class StreamedResponse implements AutoCloseable {

        private final Socket socket;

        private final BufferedReader lines;

        private StreamedResponse(String path) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), application.port());
            socket.setSoTimeout(60_000);
            socket.getOutputStream()
                    .write(("GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        /** Has the handler write a piece, and reads it. */
        void pass(String piece) throws IOException {
            pieces().write(piece);
            readUntil(piece);
        }

        void readUntil(String expected) throws IOException {
            String line = lines.readLine();
            while (line == null || !line.contains(expected)) {
                assertThat(line).as("before " + expected).isNotNull();
                line = lines.readLine();
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
