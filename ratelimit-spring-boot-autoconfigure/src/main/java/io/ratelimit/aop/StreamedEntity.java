package io.ratelimit.aop;

import io.ratelimit.expression.CallEnd;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.http.ResponseEntity;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Follows the publisher in a {@link ResponseEntity}, whose values are written after the method has returned. */
final class StreamedEntity {

    private StreamedEntity() {}

    /** Returns the entity with a publisher that tells its end, or {@code null} if the result is no such entity. */
    static @Nullable Object follow(Object result, CallEnd end) {
        // Not a subclass, which could not be replaced.
        if (result.getClass() != ResponseEntity.class) {
            return null;
        }
        ResponseEntity<?> entity = (ResponseEntity<?>) result;
        Object body = entity.getBody();
        ReactiveAdapter adapter = body == null
                ? null
                : ReactiveAdapterRegistry.getSharedInstance().getAdapter(body.getClass());
        return adapter == null || body == null
                ? null
                : ResponseEntity.status(entity.getStatusCode())
                        .headers(entity.getHeaders())
                        .body(follow(adapter, body, end));
    }

    private static Object follow(ReactiveAdapter adapter, Object body, CallEnd end) {
        Flux<?> values = Flux.from(adapter.<Object>toPublisher(body))
                .doOnNext(end::add)
                .doOnComplete(end::completed)
                .doOnError(end::failed)
                .doOnCancel(end::cancelled);
        // fromDirect: the value must not be followed by a cancellation.
        Publisher<?> followed = adapter.isMultiValue() ? values : Mono.fromDirect(values);
        return adapter.fromPublisher(followed);
    }
}
