package io.ratelimit;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Describes a limit as this instance applies it, and where its attributes come from.
 *
 * @param configured the limit without the override: its declaration and the configuration
 * @param effective the limit that applies to calls
 * @param override the override of the limit; {@code null}: none
 * @param origins where each attribute of the effective limit comes from, by name, such as {@code maxWait}
 * @param plans the same for the configured plans of the limit, by their names; those of a plan are empty
 */
public record RateLimitStatus(
        RateLimit configured,
        RateLimit effective,
        @Nullable ActiveOverride override,
        Map<String, Origin> origins,
        Map<String, RateLimitStatus> plans) {

    public RateLimitStatus {
        origins = Map.copyOf(origins);
        plans = Map.copyOf(plans);
    }

    /** Returns the version to pass to a change that must not undo another one; 0 without an override. */
    public long version() {
        return override == null ? 0 : override.version();
    }

    /**
     * An override as it is stored.
     *
     * @param version identifies this change of the limit, and is larger than those of all earlier ones
     * @param until when it ends by itself; {@code null}: it does not
     * @param principal the author of the change, if known
     * @param problem why this instance does not apply it, such as a capacity that is too large for the algorithm which
     *     this instance declares; {@code null}: it applies
     */
    public record ActiveOverride(
            RateLimitOverride attributes,
            long version,
            @Nullable Instant until,
            @Nullable String principal,
            @Nullable String problem) {}

    /** The kinds of places that set an attribute. */
    public enum Source {

        /** The starter, because nothing sets the attribute. */
        DEFAULT,

        /** An annotation, a {@link RateLimit} bean or a {@link io.ratelimit.spi.RateLimitCustomizer}. */
        DECLARATION,

        /** A property, of the limit or of the defaults of all limits. */
        CONFIGURATION,

        /** The override. */
        OVERRIDE
    }

    /**
     * Where an attribute comes from.
     *
     * @param place for a declaration the method or bean, for the configuration the property and its file and line if known,
     *     for an override its end; empty for a default
     */
    public record Origin(Source source, String place) {}
}
