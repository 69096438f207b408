package io.ratelimit.annotation;

import io.ratelimit.Algorithm;
import io.ratelimit.Refill;
import io.ratelimit.Scope;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Limits how often a method is called. On a type, it declares one limit shared by all public methods; annotations on a method
 * replace it. Also found on interfaces and superclasses, and usable as a meta-annotation. If repeated, a call is charged to
 * all limits or to none.
 *
 * <p>If the limit rejects a call, the call fails with a {@link io.ratelimit.RateLimitExceededException} (HTTP 429), unless
 * there is a {@link #fallbackMethod}. The return type determines how the rejection is reported and whether a thread blocks:
 *
 * <table class="striped">
 *   <caption>Return types</caption>
 *   <thead><tr><th>returns</th><th>blocks</th><th>the rejection is</th></tr></thead>
 *   <tbody>
 *     <tr><td>a value, or nothing</td><td>the calling thread</td><td>thrown</td></tr>
 *     <tr><td>{@code CompletionStage}, {@code CompletableFuture}</td><td>no thread</td><td>in the future</td></tr>
 *     <tr><td>{@code Future}</td><td>the calling thread</td><td>in the future</td></tr>
 *     <tr><td>{@code Mono}, {@code Flux}, other reactive types, {@code Flow}</td><td>no thread</td>
 *       <td>an error signal; every subscription is a call</td></tr>
 *     <tr><td>any type, from a suspending function</td><td>no thread</td><td>thrown</td></tr>
 *   </tbody>
 * </table>
 *
 * <p>On an event loop, a call that may block fails with an {@link IllegalStateException}.
 *
 * <p>Properties below {@code ratelimit.limits.<name>} override all attributes except the name and the fallback method. Invalid
 * attributes fail the startup.
 *
 * <p>Expressions are SpEL. They can use {@code #parameterName}, {@code #p0} or {@code #a0}, {@code #root.method},
 * {@code #root.target}, {@code #root.args}, beans as {@code @bean} and, during a web request, {@code clientIp},
 * {@code principal} and {@code header('X-Api-Key')}.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Repeatable(RateLimits.class)
public @interface RateLimited {

    /** Alias of {@link #name}. */
    @AliasFor("name")
    String value() default "";

    /**
     * Name of the limit in the configuration, metrics and headers: letters, digits, {@code -} and {@code _}. Default:
     * class and method, {@code quote-controller-quote}. Methods with the same name share the limit.
     */
    @AliasFor("value")
    String name() default "";

    /** The algorithm that counts permits. */
    Algorithm algorithm() default Algorithm.TOKEN_BUCKET;

    /** Maximum number of permits available at once, up to 10^9; 0: the number in {@link #rate}. */
    long capacity() default 0;

    /**
     * Average number of permits per period: {@code "10/s"}, {@code "100/m"}, {@code "1000/h"}, {@code "5/10s"},
     * {@code "3/500ms"} or {@code "1/PT1M"}; a bare number is per second. May contain placeholders. Required here or in the
     * configuration, except for {@link Algorithm#CONCURRENCY}, which has none.
     */
    String rate() default "";

    /** Key that identifies the bucket; empty: one bucket for all callers. If the key is null or empty, the call fails. */
    String keyExpression() default "";

    /**
     * Name of a {@link io.ratelimit.spi.RateLimitKeyResolver} bean that returns the key, instead of a {@link #keyExpression}; only
     * one of them can be set.
     */
    String keyResolver() default "";

    /** Number of permits that the call consumes; 0 is free. If the number is negative, the call fails. */
    String permits() default "1";

    /**
     * Actual cost of the call, computed from {@code #result} after it; empty: the cost is what {@link #permits} says. The call is
     * admitted at {@code permits}, an estimate. After the call, the difference is refunded or charged, even beyond the capacity: a
     * bucket in debt rejects calls until enough permits are back. Does not delay the caller.
     *
     * <p>{@code #result} is the value of the method, its future or publisher, the last one of several. If the method fails, the
     * estimate stays, unless the expression uses {@code #exception}, which is null otherwise. If it refers to nothing but a bean of
     * type {@link java.util.stream.Collector}, the cost is what the bean collects from all results, also if the call is cancelled
     * or fails. {@link #refundOn} wins. If the cost is null, negative or not a number, the estimate stays.
     */
    String permitsAfter() default "";

    /** Whether the call is limited; empty: always. */
    String condition() default "";

    /**
     * Plan of the caller: the name of one of {@code ratelimit.limits.<name>.plans}, or a {@link io.ratelimit.RateLimitPlan}, whose
     * numbers apply instead of those of the limit. If it is null, empty or unknown, the limit's own numbers apply. Evaluated at
     * each call; if it has to be looked up elsewhere, use a {@link #planResolver}. {@code "none"}: calls have no plan, because only
     * code names plans.
     */
    String planExpression() default "";

    /**
     * Name of a {@link io.ratelimit.spi.RateLimitPlanResolver} bean that finds the plan of a key, instead of a
     * {@link #planExpression}; only one of them can be set.
     */
    String planResolver() default "";

    /** How permits are refilled; only for {@link Algorithm#TOKEN_BUCKET}. */
    Refill refill() default Refill.CONTINUOUS;

    /**
     * Maximum time to wait for permits, such as {@code "500ms"}; empty: do not wait. If the bucket does not hold enough permits,
     * the call reserves future permits and waits for them once, before the method runs. If they are available only later than
     * this, the call is rejected at once. Only for {@link Algorithm#TOKEN_BUCKET} with {@link Refill#CONTINUOUS} and for
     * {@link Algorithm#LEAKY_BUCKET}, where calls also wait for their slot without it. With {@link Algorithm#CONCURRENCY}, nothing is
     * reserved: the call waits for permits that another call releases, or is rejected when this time is over.
     *
     * <p>If the thread is interrupted while it waits, neither the method nor the {@link #fallbackMethod} is called, and
     * the permits stay taken: {@link io.ratelimit.RateLimitInterruptedException}.
     */
    String maxWait() default "";

    /**
     * Time for which a rejection blocks the key, such as {@code "1m"}, or several, such as
     * {@code "1m, 10m, 1h"}; empty: a rejection blocks nothing. While the key is blocked, every call is rejected, consumes
     * nothing and does not extend the block. If the limit rejects a call within the duration of a block after its end, the next
     * duration applies, and the last one repeats; otherwise the first applies again.
     */
    String blockFor() default "";

    /**
     * Which instances of the application share the limit. With {@link Scope#INSTANCE}, each applies it on its own, in memory,
     * whatever the configured store is: for what each instance has on its own, such as its threads or connections.
     */
    Scope scope() default Scope.SHARED;

    /**
     * Name of a method of the same class to call instead of throwing. It has the same return type and parameters, optionally
     * followed by the {@link io.ratelimit.RateLimitExceededException}. The fallback of a suspending function suspends, too.
     */
    String fallbackMethod() default "";

    /**
     * Exceptions of the method, including subclasses, after which the permits are refunded, before the caller receives the
     * exception; by default none. Includes failures of a future or publisher, but not a cancellation. Not for methods that
     * return a plain {@link java.util.concurrent.Future}, whose failure cannot be observed.
     */
    Class<? extends Throwable>[] refundOn() default {};
}
