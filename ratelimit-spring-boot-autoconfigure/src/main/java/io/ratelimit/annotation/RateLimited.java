package io.ratelimit.annotation;

import io.ratelimit.Algorithm;
import io.ratelimit.Refill;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Limits how often a method is called. On a type it is one limit that all its public methods share; a method's own
 * annotations replace it. Found on interfaces and superclasses too, and usable as a meta-annotation. Repeated, a call is
 * charged to every limit or to none.
 *
 * <p>A call beyond the limit fails with {@link io.ratelimit.RateLimitExceededException}, over HTTP a 429, unless there is a
 * {@link #fallbackMethod}. How, and who waits for the decision, is up to what the method returns:
 *
 * <table class="striped">
 *   <caption>Return types</caption>
 *   <thead><tr><th>returns</th><th>who waits</th><th>the rejection is</th></tr></thead>
 *   <tbody>
 *     <tr><td>a value, or nothing</td><td>the calling thread</td><td>thrown</td></tr>
 *     <tr><td>{@code CompletionStage}, {@code CompletableFuture}</td><td>nobody</td><td>in the future</td></tr>
 *     <tr><td>{@code Future}</td><td>the calling thread</td><td>in the future</td></tr>
 *     <tr><td>{@code Mono}, {@code Flux}, other reactive types, {@code Flow}</td><td>nobody</td>
 *       <td>an error signal; every subscription is a call</td></tr>
 *     <tr><td>whatever, from a function that suspends</td><td>nobody</td><td>thrown</td></tr>
 *   </tbody>
 * </table>
 *
 * <p>On an event loop a method whose caller might have to wait is refused with an {@link IllegalStateException}.
 *
 * <p>{@code ratelimit.limits.<name>.*} in the application's configuration wins over every attribute but the name and the
 * fallback method. What is wrong stops the start-up.
 *
 * <p>Expressions are SpEL. They see {@code #parameterName}, {@code #p0} or {@code #a0}, {@code #root.method},
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
     * Names the limit in the configuration, in metrics and in headers: letters, digits, {@code -} and {@code _}. Default:
     * class and method, {@code quote-controller-quote}. Methods that give the same name share the limit.
     */
    @AliasFor("value")
    String name() default "";

    /** How permits are taken and come back. */
    Algorithm algorithm() default Algorithm.TOKEN_BUCKET;

    /** The most permits that can be taken at once, up to 10^9; 0: the number in {@link #rate}. */
    long capacity() default 0;

    /**
     * The most permits in the long run: {@code "10/s"}, {@code "100/m"}, {@code "1000/h"}, {@code "5/10s"},
     * {@code "3/500ms"} or {@code "1/PT1M"}; a bare number is per second. May hold placeholders. Required here or in the
     * configuration.
     */
    String rate() default "";

    /** Whose bucket; empty: one for all callers. That the key is null or empty is an error of the call. */
    String keyExpression() default "";

    /** What the call costs, a whole number; 0 is free, a negative number is an error of the call. */
    String permits() default "1";

    /** Whether the call is limited at all; empty: always. */
    String condition() default "";

    /** How the tokens come back; only for {@link Algorithm#TOKEN_BUCKET}. */
    Refill refill() default Refill.CONTINUOUS;

    /**
     * How far ahead permits are reserved, {@code "500ms"}; empty: not at all. A call for which the bucket does not
     * hold enough takes permits that are still to come and waits for them: once, before the method runs. It is rejected at once, without a wait, if they come later than that. Only for {@link Algorithm#TOKEN_BUCKET} with
     * {@link Refill#CONTINUOUS} and for {@link Algorithm#LEAKY_BUCKET}; there every call waits for its slot, and this is
     * how far beyond what a full bucket holds slots are given away.
     *
     * <p>If the thread is interrupted while it waits, neither the method nor the {@link #fallbackMethod} is called, and
     * the permits stay taken: {@link io.ratelimit.RateLimitInterruptedException}.
     */
    String maxWait() default "";

    /**
     * A method of the same class that is called instead of throwing. Returns the same type and takes the same parameters
     * and, if it likes, the {@link io.ratelimit.RateLimitExceededException} last. That of a function that suspends
     * suspends too.
     */
    String fallbackMethod() default "";

    /**
     * Failures of the method that give this limit's permits back, subclasses included, before the caller hears of them.
     * Without it a method that throws keeps its charge. What a future or a publisher fails with counts like what is
     * thrown; a caller that cancels has used its permits. Not for methods that return a plain
     * {@link java.util.concurrent.Future}, which tells nobody that it failed.
     */
    Class<? extends Throwable>[] refundOn() default {};
}
