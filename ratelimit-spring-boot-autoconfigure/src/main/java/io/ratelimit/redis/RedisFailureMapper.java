package io.ratelimit.redis;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.concurrent.Futures;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;

/** Tells from what a driver or a server says what kind of trouble it is. */
final class RedisFailureMapper {

    /** What an error reply begins with, or has after the place in the script where it came up. */
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
            Map.entry("BUSY", Reason.BUSY),
            Map.entry("LOADING", Reason.LOADING),
            Map.entry("MASTERDOWN", Reason.LOADING),
            Map.entry("CLUSTERDOWN", Reason.CLUSTER_DOWN),
            Map.entry("WRONGTYPE", Reason.FOREIGN_VALUE));

    private static final Pattern KEYS_APART = Pattern.compile("TRYAGAIN|CROSSSLOT");

    private static final String IN_THE_SCRIPT = "user_script";

    private static final Pattern REPLY = Pattern.compile("(?<![\\w'])(" + String.join("|", REPLIES.keySet()) + ")\\b");

    private RedisFailureMapper() {}

    /** @param server where it happened */
    static RateLimitStoreException of(String server, Throwable thrown) {
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
        return new RateLimitStoreException(reason, server + ": " + message, failure);
    }

    /** Whether the keys of a script are in different slots, or a slot is on its way to another node. Nothing was done. */
    static boolean areKeysApart(@Nullable Throwable thrown) {
        return thrown != null
                && Futures.unwrap(thrown) instanceof RateLimitStoreException known
                && known.getReason() == Reason.ERROR
                && KEYS_APART.matcher(messageOf(known)).find();
    }

    /** Whether one call of several may have brought it about: a key on its way, or a value that the script cannot take. */
    static boolean isOfOneCall(Throwable thrown) {
        return areKeysApart(thrown)
                || (Futures.unwrap(thrown) instanceof RateLimitStoreException known
                        && known.getReason() == Reason.ERROR
                        && first(known, cause -> messageOf(cause).contains(IN_THE_SCRIPT) ? Reason.ERROR : null)
                                != null);
    }

    /** Whether the server takes keys of one slot only. */
    static boolean isCrossSlot(@Nullable Throwable thrown) {
        return areKeysApart(thrown) && first(Objects.requireNonNull(thrown), RedisFailureMapper::crossSlot) != null;
    }

    private static @Nullable Reason crossSlot(Throwable thrown) {
        return messageOf(thrown).contains("CROSSSLOT") ? Reason.ERROR : null;
    }

    /** Where in the script it happened is of no use to who reads it. */
    private static String withoutPlace(String message) {
        int place = message.indexOf(". script: ");
        return place < 0 ? message : message.substring(0, place);
    }

    private static String messageOf(Throwable root) {
        return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    }

    /** What the server said, or did not say, counts most, also where a driver takes it for a connection that failed. */
    private static Reason reason(Throwable failure) {
        Reason ofServer = first(failure, RedisFailureMapper::ofServer);
        Reason reason = ofServer == null ? first(failure, RedisFailureMapper::ofDriver) : ofServer;
        return reason == null ? Reason.ERROR : reason;
    }

    private static @Nullable Reason first(Throwable failure, Function<Throwable, @Nullable Reason> reasonOf) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            Reason reason = reasonOf.apply(cause);
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    private static @Nullable Reason ofServer(Throwable thrown) {
        String message = messageOf(thrown);
        Matcher reply = REPLY.matcher(message);
        if (reply.find()) {
            return REPLIES.get(reply.group(1));
        }
        // It accepts connections, and hangs.
        return message.contains("initialization timed out") ? Reason.TIMEOUT : null;
    }

    private static @Nullable Reason ofDriver(Throwable thrown) {
        String message = messageOf(thrown);
        // By name and text, because every driver has exceptions of its own.
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
                || message.contains("not connected");
        return unreachable ? Reason.UNREACHABLE : null;
    }
}
