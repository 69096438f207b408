package io.ratelimit.spi;

import java.lang.reflect.Method;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** What a key resolver can read: a call of a limited method, or a request that a URL rule limits. */
public interface RateLimitKeyContext {

    /** Returns the limited method, or {@code null} for a URL rule. */
    @Nullable
    Method method();

    /** Returns the bean whose method is called, or {@code null} for a URL rule. */
    @Nullable
    Object target();

    /** Returns the arguments of the call; a request to a URL has none. */
    @Nullable
    Object[] arguments();

    /**
     * Returns what {@code #name} is in an expression: the argument of this name, or the variable in the path of the URL rule;
     * {@code null} if there is none.
     */
    @Nullable
    Object variable(String name);

    /** Returns whether there is a web request. A method can also be called without one, such as by a scheduler. */
    boolean isRequest();

    /**
     * Returns the client's address as the server reports it; for IPv6, its network.
     *
     * @throws IllegalStateException without a web request
     */
    String clientIp();

    /**
     * Returns the authenticated principal, or {@code null}.
     *
     * @throws IllegalStateException without a web request
     */
    @Nullable
    Principal principal();

    /**
     * Returns the first request header of this name, or {@code null}.
     *
     * @throws IllegalStateException without a web request
     */
    @Nullable
    String header(String name);
}
