package io.ratelimit.web.client;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.reactor.ReactorSchedulers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;

/**
 * Limits the calls of a {@code WebClient} to other applications, by host, as {@link RateLimitClientInterceptor} does for
 * blocking clients. Blocks no thread; exceptions are signalled as errors.
 */
public final class RateLimitExchangeFilterFunction implements ExchangeFilterFunction {

    private final RemoteLimit remote;

    private final Function<? super ClientRequest, String> key;

    RateLimitExchangeFilterFunction(RemoteLimit remote, Function<? super ClientRequest, String> key) {
        this.remote = remote;
        this.key = key;
    }

    /**
     * Creates a filter whose key is the host of the request, with its port unless that is the default of the scheme.
     *
     * @throws IllegalArgumentException if there is no such limit
     */
    public static RateLimitExchangeFilterFunction of(RateLimiterRegistry registry, String limit) {
        return new RateLimitExchangeFilterFunction(
                new RemoteLimit(limit, registry), request -> RemoteLimit.host(request.url()));
    }

    /** Returns a filter with another key. Calls with the same key share permits and pauses. */
    public RateLimitExchangeFilterFunction withKey(Function<? super ClientRequest, String> newKey) {
        return new RateLimitExchangeFilterFunction(remote, newKey);
    }

    /** Returns a filter whose calls wait up to this time for the end of a {@code Retry-After}. The default is 0. */
    public RateLimitExchangeFilterFunction withMaxWait(Duration maxWait) {
        return new RateLimitExchangeFilterFunction(remote.withMaxWait(maxWait), key);
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.defer(() -> {
            String bucket = key.apply(request);
            return await(bucket, Duration.ZERO)
                    .flatMap(waited -> acquire(bucket)
                            // Another call may have been answered meanwhile.
                            .flatMap(refund -> Mono.defer(() -> await(bucket, waited))
                                    .doOnError(OutboundRateLimitExceededException.class, notSent -> refund.run())))
                    .flatMap(again -> next.exchange(request))
                    .doOnNext(response -> remote.pauses()
                            .responded(
                                    bucket,
                                    response.statusCode(),
                                    response.headers().asHttpHeaders()));
        });
    }

    /** Takes a permit: see {@link RemoteLimit#acquire}. */
    private Mono<Runnable> acquire(String bucket) {
        return signalled(remote.registry().enterAllAsync(remote.refundable(bucket)))
                .map(remote::refund)
                .onErrorResume(
                        IllegalStateException.class,
                        ex -> signalled(remote.limiter().acquireAsync(bucket)).thenReturn(RemoteLimit.NO_REFUND))
                .onErrorMap(RateLimitExceededException.class, OutboundRateLimitExceededException::of);
    }

    /** Returns what the call has waited for pauses. Another may begin while it waits. */
    private Mono<Duration> await(String bucket, Duration waited) {
        Duration pause = remote.pause(bucket, remote.maxWait().minus(waited));
        return pause.isZero()
                ? Mono.just(waited)
                : signalled(remote.waiter().awaitAsync(pause))
                        .then(Mono.defer(() -> await(bucket, waited.plus(pause))));
    }

    /** Continues on a thread of Reactor. */
    private static <T> Mono<T> signalled(CompletionStage<T> stage) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        Mono<T> signal = Mono.fromFuture(future);
        return future.isDone() ? signal : signal.publishOn(ReactorSchedulers.eventLoopOrParallel());
    }
}
