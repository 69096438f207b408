package io.ratelimit.redis.connection;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.Timeouts;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.door.RedisFailureMapper;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.springframework.core.NestedExceptionUtils;

/**
 * Decides whether calls run as a Redis function or as the script: as the function while every master has its library. Loads the
 * library where it is missing, while calls run as the script. No failure to load is a failure of a call. Attempts are started by
 * calls, at most one at a time and with pauses in between, so that no thread exists for them.
 */
final class RateLimitFunction {

    /** Replies by which a server says that it has not run the function. */
    private static final Pattern NOT_RUN =
            Pattern.compile("(?i)^(ERR )?(function not found|unknown command)|^NOPERM .*'fcall'");

    private static final Pattern MISSING = Pattern.compile("(?i)^(ERR )?function not found");

    /** Replies that do not change soon, such as of a server without functions. Those like {@code LOADING} do. */
    private static final Pattern REFUSED = Pattern.compile("(?i)^(ERR|NOPERM|unknown command)\\b");

    /** The end of a reply that repeats the command. */
    private static final Pattern ARGUMENTS = Pattern.compile(", with args beginning with.*", Pattern.DOTALL);

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private static final long FIRST_PAUSE = Duration.ofSeconds(1).toNanos();

    /** Of a proxy that closes the connection, and with it fails the calls of others. */
    private static final long FOR_GOOD = Long.MAX_VALUE;

    private static final long LAST_PAUSE = Duration.ofMinutes(10).toNanos();

    /** A library that was there for this time is not expected to be lost again soon. */
    private static final long LASTING = Duration.ofMinutes(1).toNanos();

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private final String name;

    private final Supplier<? extends CompletionStage<Void>> loader;

    private final LongSupplier nanos;

    private final AtomicBoolean loading = new AtomicBoolean();

    private volatile State state;

    private String logged = "";

    /** Whether the last attempt has lost the connection, by chance or because it was closed for it. */
    private boolean closed;

    /** @param loader loads the library into the masters that do not have it, without blocking */
    RateLimitFunction(RateLimitLibrary library, Supplier<? extends CompletionStage<Void>> loader) {
        this(library, loader, System::nanoTime);
    }

    /** @param nanos the clock */
    RateLimitFunction(RateLimitLibrary library, Supplier<? extends CompletionStage<Void>> loader, LongSupplier nanos) {
        this.name = library.name();
        this.loader = loader;
        this.nanos = nanos;
        this.state = new State(false, nanos.getAsLong(), 0);
    }

    String name() {
        return name;
    }

    /** Returns whether the next call runs as the function. If not, starts an attempt to load it if one is due. */
    boolean isUsable() {
        State now = state;
        if (now.loaded) {
            return true;
        }
        if (nanos.getAsLong() - now.since >= now.pause) {
            var unused = load();
        }
        return false;
    }

    /** Loads the library if it is missing, because the server may be another one. The result does not fail. */
    CompletableFuture<?> load() {
        if (!loading.compareAndSet(false, true)) {
            return CompletableFuture.completedFuture(null);
        }
        return Timeouts.fail(Futures.start(loader), TIMEOUT).handle((done, thrown) -> {
            try {
                if (thrown == null) {
                    closed = false;
                    become(true, state.pause, "Calls run as the Redis function " + name);
                } else {
                    missing(thrown);
                }
            } finally {
                loading.set(false);
            }
            return null;
        });
    }

    /** Notes that the server has lost its scripts, and may be one that has functions. */
    void serverHasRestarted() {
        State now = state;
        if (!now.loaded && now.pause != FOR_GOOD && nanos.getAsLong() - now.since >= FIRST_PAUSE) {
            var unused = load();
        }
    }

    /** Returns whether the function has not run, so that the script can decide the call. */
    boolean hasNotRun(Throwable thrown) {
        String message = messageOf(thrown);
        if (!NOT_RUN.matcher(message).find()) {
            return false;
        }
        if (state.loaded) {
            lost(thrown);
        }
        return true;
    }

    /** Many calls may notice it at the same time. */
    private synchronized void lost(Throwable thrown) {
        if (state.loaded) {
            missing(thrown);
        }
    }

    private synchronized void missing(Throwable thrown) {
        String because = " (" + ARGUMENTS.matcher(messageOf(thrown)).replaceFirst("") + ")";
        if (RedisFailureMapper.isConnectionLost(thrown)) {
            boolean again = closed;
            closed = true;
            become(
                    false,
                    again ? FOR_GOOD : FIRST_PAUSE,
                    again
                            ? "Calls run as a script, because the connection is closed if Redis is asked for functions"
                            : "Calls run as a script until Redis has the function " + name + because);
        } else if (isRefused(thrown)) {
            become(false, LAST_PAUSE, "Calls run as a script, because Redis does not run functions" + because);
        } else {
            boolean lasted = state.loaded && nanos.getAsLong() - state.since >= LASTING;
            long pause = lasted ? 0 : Math.min(LAST_PAUSE, Math.max(FIRST_PAUSE, 2 * state.pause));
            become(false, pause, "Calls run as a script until Redis has the function " + name + because);
        }
    }

    private static boolean isRefused(Throwable thrown) {
        String message = messageOf(thrown);
        return REFUSED.matcher(message).find() && !MISSING.matcher(message).find();
    }

    private synchronized void become(boolean loaded, long pause, String message) {
        state = new State(loaded, nanos.getAsLong(), pause);
        if (!message.equals(logged)) {
            logged = message;
            logger.log(Level.INFO, message);
        }
    }

    static String messageOf(Throwable thrown) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(thrown);
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }

    /**
     * @param since when it began
     * @param pause until the next attempt to load
     */
    private record State(boolean loaded, long since, long pause) {}
}
