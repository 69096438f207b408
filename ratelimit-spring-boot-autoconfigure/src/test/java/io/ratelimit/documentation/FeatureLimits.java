package io.ratelimit.documentation;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** A limit for each feature, of ten permits, which do not come back by time during a test. */
record FeatureLimits(RateLimiterRegistry registry) {

    /** What a call takes. */
    static final int TAKEN = 6;

    /** The feature that memory does not have: a limit in a further Redis server. */
    static final String SERVER = "server";

    /** More than any limit has. */
    private static final int MANY = 30;

    private static final Map<String, List<String>> LIMITS = Map.ofEntries(
            Map.entry("token bucket", List.of()),
            Map.entry("interval", List.of("refill=interval")),
            Map.entry("leaky bucket", List.of("algorithm=leaky-bucket")),
            Map.entry("fixed window", List.of("algorithm=fixed-window")),
            Map.entry("calendar", List.of("algorithm=fixed-window", "rate=10/year")),
            Map.entry("sliding window", List.of("algorithm=sliding-window")),
            Map.entry("log", List.of("algorithm=sliding-window-log")),
            Map.entry("own", List.of("algorithm=batches")),
            Map.entry("concurrency", List.of("algorithm=concurrency", "rate=")),
            Map.entry("several limits", List.of()),
            Map.entry("maxWait", List.of("max-wait=1ms")),
            Map.entry("lease", List.of("lease=3")),
            Map.entry("blockFor", List.of("block-for=1h")),
            Map.entry("plans", List.of("plans.gold.max-wait=1ms")),
            Map.entry("permitsAfter", List.of()),
            Map.entry("refundOn", List.of()),
            Map.entry("instance", List.of("scope=instance")),
            Map.entry(SERVER, List.of("redis=eu")),
            Map.entry("rejection cache", List.of()),
            Map.entry("dry run", List.of("dry-run=true")));

    static Stream<String> features() {
        return LIMITS.keySet().stream().sorted();
    }

    /** Returns the name of the limit. */
    static String name(String feature) {
        return feature.toLowerCase(Locale.ROOT).replace(' ', '-');
    }

    /** Returns the properties of the feature's limit, and of the limit that {@code several limits} has besides. */
    static Stream<String> properties(String feature) {
        List<String> own = LIMITS.get(feature);
        String prefix = "ratelimit.limits." + name(feature) + ".";
        Stream<String> numbers =
                own.contains("rate=") ? Stream.of("capacity=10") : Stream.of("capacity=10", "rate=10/d");
        return Stream.concat(
                Stream.concat(numbers, own.stream().filter(property -> !property.equals("rate=")))
                        .map(property -> prefix + property),
                feature.equals("several limits") ? Stream.of("ratelimit.limits.other.rate=30/d") : Stream.of());
    }

    RateLimiter limiter(String feature) {
        return registry.get(name(feature));
    }

    static List<PermitRequest> both(String key, long permits) {
        return List.of(new PermitRequest("several-limits", key, permits), new PermitRequest("other", key, permits));
    }

    long remaining(String feature, String key) {
        return limiter(feature).peek(key).remaining();
    }

    /** Returns how many calls for a permit each are admitted; of a limit in dry run, how many permits are left. */
    long admitted(String feature, String key) {
        RateLimiter limiter = limiter(feature);
        if (feature.equals("dry run")) {
            return limiter.peek(key).remaining();
        }
        if (feature.equals("concurrency")) {
            return entered(limiter, key);
        }
        for (int i = 0; i < MANY; i++) {
            boolean allowed = feature.equals("several limits")
                    ? registry.tryAcquireAll(both(key, 1)).allowed()
                    : limiter.tryAcquire(key).allowed();
            if (!allowed) {
                return i;
            }
        }
        return MANY;
    }

    private static long entered(RateLimiter limiter, String key) {
        List<RateLimiter.Entry> entries = new ArrayList<>();
        try {
            while (entries.size() < MANY) {
                entries.add(limiter.enter(key));
            }
        } catch (RateLimitExceededException ex) {
            // As many as there are.
        }
        entries.forEach(RateLimiter.Entry::close);
        return entries.size();
    }
}
