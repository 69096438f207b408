package io.ratelimit.redis.door;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.BucketUnchangedException;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.script.AlgorithmMistake;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;

/** Maps the exceptions of drivers and the error replies of servers to failure reasons. */
public final class RedisFailureMapper {

    /** The words by which error replies are known. They are at the beginning, or after the line of the script. */
    private static final Map<String, Reason> REPLIES = Map.ofEntries(
            Map.entry("OOM", Reason.OUT_OF_MEMORY),
            Map.entry("READONLY", Reason.READ_ONLY),
            Map.entry("MISCONF", Reason.READ_ONLY),
            Map.entry("NOREPLICAS", Reason.READ_ONLY),
            Map.entry("NOAUTH", Reason.UNAUTHENTICATED),
            Map.entry("WRONGPASS", Reason.UNAUTHENTICATED),
            Map.entry("NOPERM", Reason.FORBIDDEN),
            Map.entry("can't run this command", Reason.FORBIDDEN),
            Map.entry("can't access", Reason.FORBIDDEN),
            Map.entry("ACL failure", Reason.FORBIDDEN),
            Map.entry("unknown command", Reason.FORBIDDEN),
            Map.entry("Unknown Redis command", Reason.FORBIDDEN),
            // Valkey 9.
            Map.entry("Unknown command", Reason.FORBIDDEN),
            Map.entry("unsupported command", Reason.FORBIDDEN),
            Map.entry("BUSY", Reason.BUSY),
            Map.entry("LOADING", Reason.LOADING),
            Map.entry("MASTERDOWN", Reason.LOADING),
            Map.entry("CLUSTERDOWN", Reason.CLUSTER_DOWN),
            Map.entry("WRONGTYPE", Reason.FOREIGN_VALUE),
            Map.entry("RATELIMIT_ALGORITHM", Reason.ALGORITHM));

    private static final Pattern KEYS_APART = Pattern.compile("TRYAGAIN|CROSSSLOT");

    private static final Pattern CROSS_SLOT = Pattern.compile("CROSSSLOT");

    /** Jedis has tried several servers of a cluster, and reports neither a connection nor a timeout. */
    private static final Pattern JEDIS_CLUSTER =
            Pattern.compile("No more cluster attempts|Cluster retry deadline exceeded|No reachable node in cluster");

    private static final Pattern NEVER_CONNECTED =
            Pattern.compile("not connected|[Uu]nable to connect|Failed to connect|Could not get a resource"
                    + "|initialization timed out|not sent in time|no connection yet|Connection is closed");

    private static final Pattern IN_THE_SCRIPT = Pattern.compile("user_(script|function)");

    /** The script says so if it fails before it charges anything. */
    private static final Pattern UNCHARGED = Pattern.compile("RATELIMIT_UNCHARGED");

    private static final Pattern PLACE = Pattern.compile("\\.? script: |, with args beginning with");

    private static final Pattern REPLY = Pattern.compile("(?<![\\w'])(" + String.join("|", REPLIES.keySet()) + ")\\b");

    private RedisFailureMapper() {}

    /** Returns the failure for an exception. */
    public static RateLimitStoreException of(String server, Throwable thrown) {
        Throwable root = thrown;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof RateLimitStoreException known) {
                return known;
            }
            root = cause;
        }
        Throwable failure = Futures.unwrap(thrown);
        Reason reason = reason(failure);
        String message = reason == Reason.TIMEOUT ? "no answer in time" : withoutPlace(messageOf(root));
        AlgorithmMistake mistake = reason == Reason.ALGORITHM ? AlgorithmMistake.ofError(message) : null;
        return mistake == null
                ? new RateLimitStoreException(reason, server + ": " + message, failure)
                : mistake.failure(server, failure);
    }

    /** Returns whether the keys of a script are in different slots, or their slot is moving to another node. Nothing was charged. */
    public static boolean areKeysApart(@Nullable Throwable thrown) {
        return thrown != null
                && Futures.unwrap(thrown) instanceof RateLimitStoreException known
                && known.getReason() == Reason.ERROR
                && KEYS_APART.matcher(messageOf(known)).find();
    }

    /** Returns whether a script has not run, and may run with one of its keys. */
    public static boolean isOfSomeKeys(Throwable thrown) {
        return areKeysApart(thrown)
                || (Futures.unwrap(thrown) instanceof RateLimitStoreException known
                        && known.getReason() == Reason.FORBIDDEN
                        && !mentions(known, IN_THE_SCRIPT));
    }

    /** Returns whether a script has certainly not run, or has failed before it could write. */
    static boolean hasNotRun(Throwable thrown) {
        if (!(Futures.unwrap(thrown) instanceof RateLimitStoreException known)) {
            return false;
        }
        return switch (known.getReason()) {
            case STALLED,
                    SHORT_CIRCUITED,
                    OVERLOADED,
                    UNAUTHENTICATED,
                    READ_ONLY,
                    OUT_OF_MEMORY,
                    BUSY,
                    LOADING,
                    CLUSTER_DOWN -> true;
            // One of its commands may be forbidden after others have written.
            case FORBIDDEN -> !mentions(known, IN_THE_SCRIPT);
            case UNREACHABLE, TIMEOUT -> causes(known).anyMatch(RedisFailureMapper::neverConnected);
            default -> false;
        };
    }

    /** Returns whether a change has certainly not been made, also at the end of the application. */
    static boolean hasNotChanged(Throwable thrown) {
        return Futures.unwrap(thrown) instanceof RateLimitStoreException known
                && (known.getReason() == Reason.CLOSED
                        ? !(known.getCause() instanceof RateLimitStoreException cause) || hasNotRun(cause)
                        : hasNotRun(known));
    }

    /** Returns whether a connection was lost on which a command had been sent. */
    public static boolean isConnectionLost(Throwable thrown) {
        RateLimitStoreException failure = of(RedisTopology.REDIS, thrown);
        return failure.getReason() == Reason.UNREACHABLE && !hasNotRun(failure);
    }

    /** Has a change fail with a {@link BucketUnchangedException} if it has certainly not been made. */
    public static <T> CompletionStage<T> sayingIfUnchanged(CompletionStage<T> change) {
        return change.exceptionallyCompose(thrown -> CompletableFuture.failedFuture(
                hasNotChanged(thrown) && Futures.unwrap(thrown) instanceof RateLimitStoreException failure
                        ? new BucketUnchangedException(failure)
                        : thrown));
    }

    private static boolean neverConnected(Throwable thrown) {
        return thrown instanceof java.net.ConnectException
                || NEVER_CONNECTED.matcher(messageOf(thrown)).find();
    }

    /**
     * Returns whether one call of several is the cause, by a key of a moving slot or by a value that the script cannot read, and
     * none of them was charged.
     */
    public static boolean isOfOneCall(Throwable thrown) {
        return areKeysApart(thrown) || mentions(thrown, UNCHARGED);
    }

    /** Returns whether the server accepts keys of one slot only. */
    static boolean isCrossSlot(Throwable thrown) {
        return areKeysApart(thrown) && mentions(thrown, CROSS_SLOT);
    }

    private static boolean mentions(Throwable failure, Pattern text) {
        return causes(failure).anyMatch(cause -> text.matcher(messageOf(cause)).find());
    }

    /** Removes the line of the script, which does not help operators, and what a call has sent, which may be a key. */
    private static String withoutPlace(String message) {
        Matcher place = PLACE.matcher(message);
        return place.find() ? message.substring(0, place.start()) : message;
    }

    private static String messageOf(Throwable root) {
        return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    }

    /** Prefers the reply of the server, even if the driver reports it as a connection failure. */
    private static Reason reason(Throwable failure) {
        return Stream.<@Nullable Reason>concat(
                        causes(failure).map(RedisFailureMapper::ofServer),
                        causes(failure).map(RedisFailureMapper::ofDriver))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(Reason.ERROR);
    }

    /** Returns the failure and its causes. */
    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
    }

    private static @Nullable Reason ofServer(Throwable thrown) {
        String message = messageOf(thrown);
        Matcher reply = REPLY.matcher(message);
        if (reply.find()) {
            return REPLIES.get(reply.group(1));
        }
        // The server accepts connections, but hangs.
        return message.contains("initialization timed out") ? Reason.TIMEOUT : null;
    }

    private static @Nullable Reason ofDriver(Throwable thrown) {
        String message = messageOf(thrown);
        // By name and text, because each driver has exceptions of its own.
        String type = thrown.getClass().getSimpleName();
        if (message.contains("size exceeded") || thrown instanceof RejectedExecutionException) {
            return Reason.OVERLOADED;
        }
        if (type.endsWith("TimeoutException")) {
            return Reason.TIMEOUT;
        }
        if (message.contains("STOPP")
                || message.contains("DESTROYED")
                || message.contains("was destroyed")
                || message.contains("Client not yet initialized")) {
            return Reason.CLOSED;
        }
        if (message.startsWith("Cannot determine a partition")) {
            return Reason.CLUSTER_DOWN;
        }
        boolean unreachable = thrown instanceof CancellationException
                || thrown instanceof java.io.IOException
                || thrown instanceof DataAccessResourceFailureException
                || type.contains("Connection")
                || message.startsWith("Connection ")
                || JEDIS_CLUSTER.matcher(message).find()
                || message.contains("not connected");
        return unreachable ? Reason.UNREACHABLE : null;
    }
}
