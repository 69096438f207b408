package io.ratelimit.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** What the handlers of a {@link StreamingApplicationContract} write, piece by piece, in each test for itself. */
final class StreamedPieces {

    static final String END = "end";

    /** The handler fails. */
    static final String FAILURE = "failure";

    private volatile BlockingQueue<String> queue = new LinkedBlockingQueue<>();

    void write(String piece) {
        queue.add(piece);
    }

    void clear() {
        queue = new LinkedBlockingQueue<>();
    }

    /** Returns what a handler writes whose request came now. */
    Source source() {
        return new Source(queue);
    }

    /** What one handler writes. */
    record Source(BlockingQueue<String> queue) {

        /** Returns the next piece, or {@code null} at the end. */
        String next() throws IOException {
            try {
                String piece = queue.poll(60, TimeUnit.SECONDS);
                if (FAILURE.equals(piece)) {
                    throw new IOException("expected by the test");
                }
                return END.equals(piece) ? null : piece;
            } catch (InterruptedException ex) {
                throw new IOException(ex);
            }
        }

        Flux<String> all() {
            return Flux.<String>generate(sink -> {
                        try {
                            String piece = next();
                            if (piece == null) {
                                sink.complete();
                            } else {
                                sink.next(piece + "\n");
                            }
                        } catch (IOException ex) {
                            sink.error(ex);
                        }
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }
    }

    /** Writes the pieces as lines, and knows how many. */
    static final class Body implements StreamingResponseBody {

        private final Source pieces;

        private final HttpServletResponse response;

        private volatile int written;

        Body(StreamedPieces pieces, HttpServletResponse response) {
            this.pieces = pieces.source();
            this.response = response;
        }

        public int getWritten() {
            return written;
        }

        @Override
        public void writeTo(OutputStream output) throws IOException {
            int number = 0;
            for (String piece = pieces.next(); piece != null; piece = pieces.next()) {
                written = ++number;
                output.write((piece + "\n").getBytes(StandardCharsets.UTF_8));
                // Spring MVC does not pass on the flush of the stream.
                response.flushBuffer();
            }
        }
    }
}
