package io.ratelimit.aop;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** What expressions may ask of the web request during which a method is called. */
public interface CallerRequest {

    /** The address the container reports; what to make of forwarded headers is the container's business. */
    String clientIp();

    /** Who is logged in; {@code null}: nobody. */
    @Nullable
    Principal principal();

    /** The first header of this name; {@code null}: none. */
    @Nullable
    String header(String name);

    /** The request of the current thread. */
    @FunctionalInterface
    interface Source {

        /** The request, or {@code null} outside of one. */
        @Nullable
        CallerRequest current();
    }
}
