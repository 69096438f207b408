package io.ratelimit.web.client;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.reactor.EventLoops;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Limits the calls of a {@code RestClient} or {@code RestTemplate} to other applications, by host.
 *
 * <p>A call takes one permit of the limit, as {@link io.ratelimit.RateLimiter#acquire(String)} does. If the limit rejects it, it throws an
 * {@link io.ratelimit.OutboundRateLimitExceededException}. If the remote host answers 429 or 503 with a {@code Retry-After},
 * seconds or a date, further calls with the same key are not sent for this time, at most an hour. They throw a
 * {@link RemoteRateLimitExceededException}, or wait if the time is over within {@link #withMaxWait maxWait}. On an event loop, they
 * do not wait. The response itself is returned as it is.
 *
 * <p>Use one instance for all clients that call the same hosts.
 */
public final class RateLimitClientInterceptor implements ClientHttpRequestInterceptor {

    private final RemoteLimit remote;

    private final Function<? super HttpRequest, String> key;

    RateLimitClientInterceptor(RemoteLimit remote, Function<? super HttpRequest, String> key) {
        this.remote = remote;
        this.key = key;
    }

    /**
     * Creates an interceptor whose key is the host of the request, with its port unless that is the default of the scheme.
     *
     * @throws IllegalArgumentException if there is no such limit
     */
    public static RateLimitClientInterceptor of(RateLimiterRegistry registry, String limit) {
        return new RateLimitClientInterceptor(
                new RemoteLimit(limit, registry), request -> RemoteLimit.host(request.getURI()));
    }

    /** Returns an interceptor with another key. Calls with the same key share permits and pauses. */
    public RateLimitClientInterceptor withKey(Function<? super HttpRequest, String> newKey) {
        return new RateLimitClientInterceptor(remote, newKey);
    }

    /** Returns an interceptor whose calls wait up to this time for the end of a {@code Retry-After}. The default is 0. */
    public RateLimitClientInterceptor withMaxWait(Duration maxWait) {
        return new RateLimitClientInterceptor(remote.withMaxWait(maxWait), key);
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        String bucket = key.apply(request);
        Duration waited = await(bucket, Duration.ZERO);
        Runnable refund = remote.acquire(bucket);
        try {
            // Another call may have been answered meanwhile.
            await(bucket, waited);
        } catch (OutboundRateLimitExceededException notSent) {
            refund.run();
            throw notSent;
        }
        ClientHttpResponse response = execution.execute(request, body);
        remote.pauses().responded(bucket, response.getStatusCode(), response.getHeaders());
        return response;
    }

    /** Returns what the call has waited for pauses. Another may begin while it waits. */
    private Duration await(String bucket, Duration waited) {
        Duration patience =
                EventLoops.isCurrentThread() ? Duration.ZERO : remote.maxWait().minus(waited);
        Duration pause = remote.pause(bucket, patience);
        if (!pause.isZero()) {
            try {
                remote.waiter().await(pause);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new RateLimitInterruptedException(remote.name(), ex);
            }
        }
        return pause.isZero() ? waited : await(bucket, waited.plus(pause));
    }
}
