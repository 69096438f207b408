package io.ratelimit.actuate;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.spi.StoreFailure;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Describes the store.
 *
 * @param kind {@code redis}, {@code in-memory} or {@code custom}
 * @param state {@code shared}: all instances share the limits; {@code instance}: each applies them on its own;
 *     {@code on-store-failure}: the store fails, and the policy applies
 * @param reason why it began to fail; {@code null} if it does not fail
 * @param error the message of the failure, with the name of the server if limits are in several
 * @param latestReason why it fails now, if that is another reason; else {@code null}
 * @param latestError the message of that failure, as {@code error}
 * @param since when the first call was not decided
 * @param expectedInstances by how many {@code local} divides each limit now; {@code null}: it divides none, or this is one server
 *     of several
 * @param servers each Redis server by its name, if limits are in several; {@code null}: there is only one
 */
public record StoreDescriptor(
        String kind,
        String state,
        @Nullable String reason,
        @Nullable String error,
        @Nullable String latestReason,
        @Nullable String latestError,
        @Nullable Instant since,
        @Nullable Integer expectedInstances,
        @Nullable Map<String, StoreDescriptor> servers) {

    /**
     * Describes a store. One that instances share fails if one of its servers does. A failure that concerns single buckets does
     * not count.
     *
     * @param names of the servers; empty if there is only one
     */
    public static StoreDescriptor of(String kind, List<StoreFailure> failures, List<String> names) {
        Map<String, StoreDescriptor> servers = new LinkedHashMap<>();
        for (String name : names) {
            Stream<StoreFailure> ofServer = failures.stream().filter(failure -> name.equals(failure.redis()));
            servers.put(name, describe(kind, ofServer.toList(), null));
        }
        return describe(kind, failures, servers.isEmpty() ? null : servers);
    }

    /** Returns the same with the number of instances by which limits are divided while the store fails. */
    public StoreDescriptor dividing(int instances) {
        return new StoreDescriptor(kind, state, reason, error, latestReason, latestError, since, instances, servers);
    }

    /** Returns the names of the servers that fail; none if there is only one. */
    public static List<String> failingServers(List<StoreFailure> failures) {
        return ofWholeStores(failures)
                .map(StoreFailure::redis)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    static Stream<StoreFailure> ofWholeStores(List<StoreFailure> failures) {
        return failures.stream()
                .filter(failure -> failure.reason() != Reason.FOREIGN_VALUE && failure.reason() != Reason.ALGORITHM);
    }

    private static StoreDescriptor describe(
            String kind, List<StoreFailure> failures, @Nullable Map<String, StoreDescriptor> servers) {
        StoreFailure failure = ofWholeStores(failures).findFirst().orElse(null);
        if (failure == null) {
            String state = kind.equals("in-memory") ? "instance" : "shared";
            return new StoreDescriptor(kind, state, null, null, null, null, null, null, servers);
        }
        String server = servers == null ? "" : "Redis server '" + failure.redis() + "': ";
        StoreFailure.Latest latest = failure.latest();
        return new StoreDescriptor(
                kind,
                "on-store-failure",
                lowerCase(failure.reason()),
                server + failure.message(),
                latest == null ? null : lowerCase(latest.reason()),
                latest == null ? null : server + latest.message(),
                failure.since(),
                null,
                servers);
    }

    private static String lowerCase(Reason reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }
}
