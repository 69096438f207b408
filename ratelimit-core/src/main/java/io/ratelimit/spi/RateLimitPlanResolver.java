package io.ratelimit.spi;

import io.ratelimit.RateLimitPlan;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Finds the plan of a caller where it is stored: in a database or a billing service. A limit uses the bean that
 * {@code planResolver} or {@code ratelimit.limits.<name>.plan-resolver} names:
 *
 * <pre>{@code
 * @Bean
 * RateLimitPlanResolver customerPlans(Customers customers) {
 *     return (limit, key) -> RateLimitPlan.named(customers.planOf(key));
 * }
 * }</pre>
 *
 * <p>It is asked once for each key, and again in the background when the answer is older than {@code ratelimit.plans.cache}.
 * While it fails, the last known plan applies, or the limit's own numbers before it has ever answered.
 */
@FunctionalInterface
public interface RateLimitPlanResolver {

    /**
     * Returns the plan of a caller. May block: it is called on threads of the starter alone, never on an event loop.
     *
     * @param limit the name of the limit
     * @param key identifies the bucket
     * @return {@code null}: the limit's own numbers apply
     */
    @Nullable
    RateLimitPlan resolve(String limit, String key);

    /**
     * Returns the plan without blocking, if it is implemented by a client that does not block. It is called on the thread of the
     * limited call, so it must return at once. By default, it calls {@link #resolve} on a thread that may block.
     *
     * @param executor has these threads
     */
    default CompletionStage<@Nullable RateLimitPlan> resolveAsync(String limit, String key, Executor executor) {
        return CompletableFuture.supplyAsync(() -> resolve(limit, key), executor);
    }
}
