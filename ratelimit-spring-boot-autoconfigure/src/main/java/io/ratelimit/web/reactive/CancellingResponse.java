package io.ratelimit.web.reactive;

import java.nio.file.Path;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.ZeroCopyHttpOutputMessage;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Cancels the streams that it writes when its exchange is over. If the client leaves while the first element is written, Spring's
 * adapter for Netty ends the response, and the stream goes on for ever, with the permits of a method that has returned it.
 */
class CancellingResponse extends ServerHttpResponseDecorator {

    private final Mono<Void> over;

    private CancellingResponse(ServerHttpResponse response, Mono<Void> over) {
        super(response);
        this.over = over;
    }

    static ServerHttpResponse of(ServerHttpResponse response, Mono<Void> over) {
        return response instanceof ZeroCopyHttpOutputMessage
                ? new OfFiles(response, over)
                : new CancellingResponse(response, over);
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
        return super.writeWith(cancelled(body));
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
        return super.writeAndFlushWith(cancelled(body));
    }

    /** A single value is written in another way, which cancels. */
    private <T> Publisher<T> cancelled(Publisher<T> body) {
        return body instanceof Mono ? body : Flux.from(body).takeUntilOther(over);
    }

    /** Lets the server send files by itself. */
    private static final class OfFiles extends CancellingResponse implements ZeroCopyHttpOutputMessage {

        private OfFiles(ServerHttpResponse response, Mono<Void> over) {
            super(response, over);
        }

        @Override
        public Mono<Void> writeWith(Path file, long position, long count) {
            return ((ZeroCopyHttpOutputMessage) getDelegate()).writeWith(file, position, count);
        }
    }
}
