package io.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * Supertype of every exception that the starter throws to an application. Messages never contain the key.
 *
 * <table class="striped">
 *   <caption>Exceptions</caption>
 *   <thead><tr><th>exception</th><th>thrown</th></tr></thead>
 *   <tbody>
 *     <tr><td>{@link RateLimitExceededException}</td><td>by a call that a limit rejects</td></tr>
 *     <tr><td>{@link OutboundRateLimitExceededException}</td>
 *       <td>by a call to another application that a limit rejects</td></tr>
 *     <tr><td>{@link RateLimitStoreException}</td>
 *       <td>by a call, if the store fails and {@code on-store-failure} is {@code throw}</td></tr>
 *     <tr><td>{@link RateLimitRefusedException}</td>
 *       <td>by a call, if the store fails and {@code on-store-failure} is {@code reject}</td></tr>
 *     <tr><td>{@link RateLimitInterruptedException}</td>
 *       <td>by a call whose thread is interrupted while it waits for permits</td></tr>
 *     <tr><td>{@link RateLimitExpressionException}</td>
 *       <td>by a call, if an expression fails or its result has the wrong type</td></tr>
 *     <tr><td>{@link RateLimitInputException}</td>
 *       <td>by a call, if its limit cannot be applied to a value that the caller has passed</td></tr>
 *     <tr><td>{@link MissingRateLimitKeyException}</td>
 *       <td>by a call, if the result of its key expression is null or empty</td></tr>
 *     <tr><td>{@link RateLimitConfigurationException}</td>
 *       <td>at startup, if an annotation, a property or a {@link RateLimit} is invalid</td></tr>
 *     <tr><td>{@link RateLimitConflictException}</td>
 *       <td>by a {@link RateLimitAdmin}, if an override has changed meanwhile</td></tr>
 *   </tbody>
 * </table>
 *
 * <p>Arguments that break a method's contract are an {@link IllegalArgumentException}, and a blocking call on an event loop
 * is an {@link IllegalStateException}, as everywhere in Java.
 */
public abstract class RateLimitException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    RateLimitException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    RateLimitException(
            @Nullable String message, @Nullable Throwable cause, boolean suppressible, boolean hasStackTrace) {
        super(message, cause, suppressible, hasStackTrace);
    }
}
