package io.ratelimit.actuate;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.actuate.LimitDescriptor.Load;
import io.ratelimit.actuate.LimitDescriptor.Usage;
import io.ratelimit.internal.statistics.Figures;
import io.ratelimit.internal.statistics.RateLimitStatistics;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.lang.Nullable;

/**
 * Serves {@code /actuator/ratelimits}: reads and changes limits and single buckets. The parameter {@code key} selects a bucket,
 * an empty one that of all callers. Exceptions become answers by {@link EndpointProblems}, which also passes the principal.
 *
 * <p>Optional parameters have Spring's own annotation, because Spring Boot 3 does not know others.
 *
 * @param names supplies the names of all limits
 * @param usage returns where the limit of a name applies
 * @param load returns what the calls of this instance hold and wait for
 * @param statistics {@code null}: calls are not counted
 * @param instance names this instance
 */
@Endpoint(id = RateLimitsEndpoint.ID, defaultAccess = Access.READ_ONLY)
@SuppressWarnings("deprecation")
public record RateLimitsEndpoint(
        RateLimitAdmin admin,
        Supplier<Collection<String>> names,
        Function<String, Usage> usage,
        Function<RateLimit, Load> load,
        Supplier<StoreDescriptor> store,
        @Nullable RateLimitStatistics statistics,
        String instance,
        Clock clock) {

    static final String ID = "ratelimits";

    private static final String WITH_KEY = "be sent with a key";

    private static final String WITHOUT_KEY = "only be sent without a key";

    /** A number other than 0. */
    private static final Pattern WITHOUT_UNIT = Pattern.compile("[+-]?0*[1-9][0-9]*");

    /**
     * Returns the store, the instances and all limits, by name.
     *
     * @param history how far back the calls of each interval are listed; {@code null}: they are not
     */
    @ReadOperation
    public RateLimitsDescriptor limits(@Nullable String history) {
        Duration time = history(history);
        Figures figures = statistics == null ? null : statistics.read(time, null);
        Map<String, LimitDescriptor> limits = new TreeMap<>();
        for (String name : names.get()) {
            limits.put(name, describe(admin.status(name), figures, false));
        }
        return new RateLimitsDescriptor(
                store.get(),
                instance,
                figures == null
                        ? null
                        : figures.instances().stream()
                                .map(InstanceDescriptor::of)
                                .toList(),
                figures == null ? null : figures.ofAllInstances() ? "all-instances" : "instance",
                limits);
    }

    /**
     * Returns one limit, or the bucket of a key.
     *
     * @param plan the plan by whose numbers the bucket is shown; {@code null}: the limit's own
     * @param history how far back the calls of each interval are listed; {@code null}: they are not
     */
    @ReadOperation
    public OperationResponseBody limit(
            @Selector String limit, @Nullable String key, @Nullable String plan, @Nullable String history) {
        RateLimitStatus status = by(null, plan).status(limit);
        if (key != null) {
            refuse("history", history, WITHOUT_KEY);
            return describe(status, bucket(by(null, plan), status, key).inspect());
        }
        refuse("plan", plan, WITH_KEY);
        Duration time = history(history);
        Figures figures = statistics == null
                ? null
                : statistics.read(time, status.effective().id());
        return describe(status, figures, true);
    }

    private static Duration history(@Nullable String text) {
        if (text == null) {
            return Duration.ZERO;
        }
        Duration time = parse("history", text);
        if (time.isNegative() || time.isZero() || time.compareTo(RateLimitStatistics.LONGEST_HISTORY) > 0) {
            throw new IllegalArgumentException("history must be positive, and at most "
                    + RateLimitStatistics.LONGEST_HISTORY.toMinutes() + "m (was " + text + ").");
        }
        return time;
    }

    /**
     * Sets the override of a limit or of one of its plans. With a key it grants permits, blocks or unblocks.
     *
     * @param plan the plan that the override is for; {@code null}: the limit itself
     * @param version what the present override must have; {@code null}: any
     * @param principal the author, if known
     */
    @WriteOperation
    public OperationResponseBody change(
            @Selector String limit,
            @Nullable String key,
            @Nullable String plan,
            @Nullable Long capacity,
            @Nullable String rate,
            @Nullable String maxWait,
            @Nullable String blockFor,
            @Nullable Boolean enabled,
            @Nullable Boolean dryRun,
            @Nullable OnStoreFailure onStoreFailure,
            @Nullable String duration,
            @Nullable Long version,
            @Nullable Long grant,
            @Nullable Boolean unblock,
            @Nullable String principal) {
        RateLimitAdmin author = by(principal, plan);
        RateLimitOverride override = RateLimitOverride.builder()
                .capacity(capacity)
                .rate(rate)
                .maxWait(duration("maxWait", maxWait))
                .blockFor(blockFor == null || key != null ? null : durations(blockFor))
                .enabled(enabled)
                .dryRun(dryRun)
                .onStoreFailure(onStoreFailure)
                .duration(duration("duration", duration))
                .build();
        if (key == null) {
            refuse("grant", grant, WITH_KEY);
            refuse("unblock", unblock, WITH_KEY);
            return describe(author.override(limit, override, version(version)), limit, plan);
        }
        override.names().forEach(name -> refuse(name, name, WITHOUT_KEY));
        refuse("duration", duration, WITHOUT_KEY);
        refuse("version", version, WITHOUT_KEY);
        RateLimitStatus status = author.status(limit);
        return describe(status, change(bucket(author, status, key), grant, blockFor, unblock));
    }

    /** Removes the override of a limit or of one of its plans, or resets the bucket of a key. */
    @DeleteOperation
    public OperationResponseBody remove(
            @Selector String limit,
            @Nullable String key,
            @Nullable String plan,
            @Nullable Long version,
            @Nullable String principal) {
        RateLimitAdmin author = by(principal, plan);
        if (key == null) {
            return describe(author.removeOverride(limit, version(version)), limit, plan);
        }
        refuse("version", version, WITHOUT_KEY);
        RateLimitStatus status = author.status(limit);
        RateLimitAdmin.Bucket bucket = bucket(author, status, key);
        bucket.reset();
        try {
            return describe(status, bucket.inspect());
        } catch (RateLimitStoreException ex) {
            throw new RateLimitStoreException(
                    ex.getReason(), "The bucket was reset, but cannot be read (" + ex.getMessage() + ").", ex);
        }
    }

    private static BucketStatus change(
            RateLimitAdmin.Bucket bucket, @Nullable Long grant, @Nullable String blockFor, @Nullable Boolean unblock) {
        if (Stream.of(grant, blockFor, unblock).filter(value -> value != null).count() != 1) {
            throw new IllegalArgumentException("With a key, exactly one of grant, blockFor and unblock must be sent.");
        }
        if (grant != null) {
            return bucket.grant(grant);
        }
        if (blockFor != null) {
            return bucket.block(parse("blockFor", blockFor));
        }
        if (Boolean.FALSE.equals(unblock)) {
            throw new IllegalArgumentException("unblock must be true (was false).");
        }
        return bucket.unblock();
    }

    private static void refuse(String name, @Nullable Object value, String rule) {
        if (value != null) {
            throw new IllegalArgumentException(name + " must " + rule + ".");
        }
    }

    private RateLimitAdmin by(@Nullable String principal, @Nullable String plan) {
        RateLimitAdmin author = principal == null ? admin : admin.as(principal);
        return plan == null ? author : author.forPlan(plan);
    }

    private static RateLimitAdmin.Bucket bucket(RateLimitAdmin admin, RateLimitStatus status, String key) {
        String limit = status.effective().name();
        return key.isEmpty() ? admin.bucket(limit) : admin.bucket(limit, key);
    }

    private static long version(@Nullable Long expected) {
        if (expected == null) {
            return RateLimitAdmin.ANY_VERSION;
        }
        if (expected < 0) {
            throw new IllegalArgumentException("version must not be negative (was " + expected + ").");
        }
        return expected;
    }

    private static List<Duration> durations(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(each -> parse("blockFor", each))
                .toList();
    }

    private static @Nullable Duration duration(String name, @Nullable String text) {
        return text == null ? null : parse(name, text);
    }

    /** Refuses a number without a unit, which Spring takes for milliseconds. */
    private static Duration parse(String name, String text) {
        String value = text.strip();
        if (WITHOUT_UNIT.matcher(value).matches()) {
            throw new IllegalArgumentException(name + " must have a unit, such as " + value + "s (was " + value + ").");
        }
        try {
            return DurationStyle.detectAndParse(value);
        } catch (IllegalArgumentException ex) {
            throw new IllegalArgumentException(name + " must be a duration such as 10m (was \"" + value + "\").", ex);
        }
    }

    /** Describes the limit after a change. The status of a plan is a part of that. */
    private LimitDescriptor describe(RateLimitStatus changed, String limit, @Nullable String plan) {
        return describe(plan == null ? changed : admin.status(limit), null, true);
    }

    private LimitDescriptor describe(RateLimitStatus status, @Nullable Figures figures, boolean single) {
        RateLimit limit = status.effective();
        return LimitDescriptor.of(status, usage.apply(limit.name()), load.apply(limit), figures, single);
    }

    private BucketDescriptor describe(RateLimitStatus status, BucketStatus bucket) {
        return BucketDescriptor.of(status.effective(), bucket, clock);
    }
}
