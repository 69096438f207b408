package io.ratelimit.autoconfigure.properties;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.redis.RedisStoreProperties;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RequestRule;
import io.ratelimit.web.RuleOrder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the rate limits. An unknown property stops the start-up: {@code RateLimitPropertiesValidator} finds it, because
 * the names of Redis servers are beside the properties of the first.
 *
 * @param enabled Whether calls are limited. If not, annotations and URL rules do nothing, and no Redis is needed.
 * @param store Where permits are counted: in Redis for all instances together, or in memory by each instance.
 * @param onStoreFailure What happens to calls while Redis fails.
 * @param expectedInstances Number of instances. While Redis fails, each instance applies its share of every limit in memory.
 *     "auto": as many as were counted last, where the figures of limits are shared; otherwise 1. A number is the least; if more
 *     were counted, there are more shares. 1: each instance applies every limit in full. Ignored by the in-memory store.
 * @param dryRun Whether calls that would be rejected are counted and not rejected.
 * @param partialContext Whether the application context has only some of the beans that the configuration is for, such as a
 *     test slice, or the parent of a context that is started later. What the configuration names, and no bean of the context
 *     declares, is then no mistake.
 * @param order Order of the limiting advice among the others of a bean: "before-security", which is before all others,
 *     transactions, caches and asynchronous execution among them; "after-security"; or a number, lower is earlier.
 * @param redis Properties of the Redis store.
 * @param inMemory Properties of the in-memory store.
 * @param health Properties of the health contributor.
 * @param statistics Properties of the figures of limits.
 * @param metrics Properties of meters.
 * @param observations Properties of observations, which traces are made of.
 * @param topKeys Properties of the keys that limits reject most.
 * @param web Properties of HTTP requests and responses.
 * @param dashboard Properties of the dashboard, which is a module of its own.
 * @param defaults Defaults of all limits, for what a limit sets neither in its properties nor in its annotation.
 * @param limits Properties of each limit, by its name. They override the annotation, attribute by attribute.
 * @param http Rules for URLs, which apply before any handler.
 * @param plans Properties of plans that a bean finds.
 */
@ConfigurationProperties("ratelimit")
public record RateLimitProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("redis") StoreType store,
        @DefaultValue("local") OnStoreFailure onStoreFailure,
        @DefaultValue("auto") String expectedInstances,
        @DefaultValue("false") boolean dryRun,
        @DefaultValue("false") boolean partialContext,
        @DefaultValue("before-security") String order,
        @DefaultValue @NestedConfigurationProperty RedisStoreProperties redis,
        @DefaultValue InMemory inMemory,
        @DefaultValue Health health,
        @DefaultValue Statistics statistics,
        @DefaultValue Metrics metrics,
        @DefaultValue Observations observations,
        @DefaultValue TopKeys topKeys,
        @DefaultValue Web web,
        @DefaultValue Dashboard dashboard,
        @DefaultValue @NestedConfigurationProperty LimitProperties.Defaults defaults,
        @DefaultValue Map<String, LimitProperties> limits,
        @DefaultValue List<Http> http,
        @DefaultValue Plans plans) {

    public RateLimitProperties {
        if (topKeys.enabled() && Boolean.FALSE.equals(statistics.enabled())) {
            throw new RateLimitConfigurationException(
                    "ratelimit.top-keys.enabled must be false without figures (was true).",
                    "Remove ratelimit.statistics.enabled=false, or set ratelimit.top-keys.enabled=false.");
        }
    }

    /** Where permits are counted. */
    public enum StoreType {
        REDIS,
        IN_MEMORY
    }

    /**
     * Properties of the in-memory store.
     *
     * @param maxKeys Maximum number of buckets in memory, of all limits together.
     */
    public record InMemory(@DefaultValue("100000") long maxKeys) {

        public InMemory {
            if (maxKeys < 1) {
                throw new RateLimitConfigurationException(
                        "ratelimit.in-memory.max-keys must be at least 1 (was " + maxKeys + ").",
                        "Set it to the number of keys that are in use at a time.");
            }
        }
    }

    /**
     * Properties of plans that a RateLimitPlanResolver bean finds.
     *
     * @param cache Time after which the plan of a key is asked for again, in the background.
     * @param timeout Maximum time that the first call of a key waits for its plan. Then the limit's own numbers apply.
     */
    public record Plans(
            @DefaultValue("1m") Duration cache,
            @DefaultValue("500ms") Duration timeout) {

        public Plans {
            if (cache.isZero() || cache.isNegative()) {
                throw new RateLimitConfigurationException(
                        "ratelimit.plans.cache must be positive (was " + DurationText.of(cache) + ").",
                        "Set it to the time after which another plan of a caller applies, such as 1m.");
            }
            if (timeout.isNegative()) {
                throw new RateLimitConfigurationException(
                        "ratelimit.plans.timeout must not be negative (was " + DurationText.of(timeout) + ").",
                        "Set it to the longest time that a call may wait for its plan, such as 500ms, or to 0.");
            }
        }
    }

    /**
     * Properties of the health contributor.
     *
     * @param storeFailure Status of the health contributor while Redis fails.
     */
    public record Health(@DefaultValue("up") HealthStatus storeFailure) {}

    /**
     * Properties of the figures of limits.
     *
     * @param enabled Whether calls are counted for the endpoints of all instances. Default: whether this instance has the
     *     endpoint.
     */
    public record Statistics(@Nullable Boolean enabled) {}

    /**
     * Properties of meters.
     *
     * @param planTag Whether the meter ratelimit.calls has the plan of the caller as the tag "plan".
     */
    public record Metrics(@DefaultValue("false") boolean planTag) {}

    /**
     * Properties of observations.
     *
     * @param enabled Whether calls that wait for permits are observed, and rejections are events of the current observation.
     */
    public record Observations(@DefaultValue("false") boolean enabled) {}

    /**
     * Properties of the keys that limits reject most.
     *
     * @param enabled Whether the endpoint shows the keys that a limit rejects most. They can be personal data.
     */
    public record TopKeys(@DefaultValue("false") boolean enabled) {}

    /** Health status of the application. */
    public enum HealthStatus {
        UP,
        DOWN
    }

    /**
     * Properties of HTTP requests and responses.
     *
     * @param headers Rate limit headers of responses.
     * @param ipv6Prefix Number of bits of an IPv6 address that clientIp keeps, 1 to 128.
     * @param missingKeyStatus Status of the response to a request whose key is null or empty, or with a value that a limit cannot
     *     use, such as negative permits, 400 to 599.
     * @param outboundStatus Status of the response to a request during which a limit rejects a call to another application, 400
     *     to 599.
     * @param filterOrder Order of the filter that limits URLs. Default: just before Spring Security, -101 unless
     *     spring.security.filter.order is set, so that login attempts are limited too. Rules that read the principal have a filter
     *     of their own, just after it.
     */
    public record Web(
            @DefaultValue("ietf") HeaderFormat headers,
            @DefaultValue("64") int ipv6Prefix,
            @DefaultValue("400") int missingKeyStatus,
            @DefaultValue("503") int outboundStatus,
            @Nullable Integer filterOrder) {

        public Web {
            if (ipv6Prefix < 1 || ipv6Prefix > 128) {
                throw new RateLimitConfigurationException(
                        "ratelimit.web.ipv6-prefix must be from 1 to 128 (was " + ipv6Prefix + ").",
                        "Use 64, the smallest network that a provider assigns to a customer, or 128 for single"
                                + " addresses.");
            }
            checkStatus("missing-key-status", missingKeyStatus, "400 or 401");
            checkStatus("outbound-status", outboundStatus, "503 or 429");
        }

        private static void checkStatus(String property, int status, String examples) {
            if (status < 400 || status > 599) {
                throw new RateLimitConfigurationException(
                        "ratelimit.web." + property + " must be from 400 to 599 (was " + status + ").",
                        "Give the status of an error, such as " + examples + ".");
            }
        }
    }

    /**
     * Properties of the dashboard.
     *
     * @param enabled Whether the dashboard is served, if its module is there.
     * @param path Path of the dashboard, on the server that has the actuator endpoints.
     */
    public record Dashboard(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("/ratelimits") String path) {

        public Dashboard {
            if (!path.matches("(/[\\w.~-]+)+")) {
                throw new RateLimitConfigurationException(
                        "ratelimit.dashboard.path must begin with a slash and name a page (was \"" + path + "\").",
                        "Use letters, digits, -, _, ., ~ and slashes between them, such as /ratelimits.");
            }
        }
    }

    /**
     * URLs that a limit applies to. If several rules match a request, it is charged to all their limits together, once each.
     *
     * @param path Pattern of the paths, such as "/api/**" or "/tenants/{tenant}/**".
     * @param methods HTTP methods; empty: all. GET includes HEAD.
     * @param limit Name of the limit.
     * @param order Whether the rule is applied before or after Spring Security. Default: after it, if an expression of the limit
     *     reads the principal.
     */
    public record Http(
            @Nullable String path,
            @DefaultValue Set<HttpMethod> methods,
            @Nullable String limit,
            @Nullable RuleOrder order) {

        RequestRule rule(int index) {
            String property = "ratelimit.http[" + index + "]";
            return new RequestRule(
                    property,
                    given(path, property, "path", "a path pattern, such as \"/api/**\""),
                    methods.stream().map(HttpMethod::name).collect(Collectors.toUnmodifiableSet()),
                    given(limit, property, "limit", "the name of a limit"),
                    order);
        }

        private static String given(@Nullable String value, String rule, String name, String what) {
            if (value == null || value.isBlank()) {
                throw new RateLimitConfigurationException(
                        rule + "." + name + " must be set.", "Give the rule " + what + ".");
            }
            return value;
        }
    }

    /** HTTP methods of a rule. */
    public enum HttpMethod {
        GET,
        HEAD,
        POST,
        PUT,
        PATCH,
        DELETE,
        OPTIONS,
        TRACE
    }

    /** Returns the rules for URLs. */
    public List<RequestRule> requestRules() {
        return IntStream.range(0, http.size())
                .mapToObj(index -> http.get(index).rule(index))
                .toList();
    }

    /** Returns the settings of limits, without the algorithms and customizers of the application. */
    public RateLimitSettings settings() {
        // All spellings of a name are bound to the same values.
        Map<String, LimitConfiguration> configured = LimitNames.distinct(limits.keySet()).stream()
                .collect(Collectors.toMap(
                        LimitNames::canonical,
                        name -> Objects.requireNonNull(limits.get(name)).configuration(name)));
        return new RateLimitSettings(defaults.configuration(dryRun, onStoreFailure), share(), configured, List.of());
    }

    /** The in-memory store is not shared, so that each of its instances applies every limit in full. */
    public LocalShare share() {
        LocalShare share = LocalShare.parse(expectedInstances);
        return store == StoreType.REDIS ? share : LocalShare.WHOLE;
    }
}
