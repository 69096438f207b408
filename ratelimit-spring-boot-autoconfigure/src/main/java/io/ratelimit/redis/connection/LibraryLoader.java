package io.ratelimit.redis.connection;

import io.ratelimit.redis.RateLimitLibrary;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Loads the library into a server that does not have it. Looks for it by a call with an impossible number of keys, which runs
 * nothing, and tells a missing function from one that may not be called.
 */
final class LibraryLoader {

    private static final String NO_RUN = "-1";

    private static final String IS_THERE = "can't be negative";

    private static final String IS_MISSING = "Function not found";

    /** Another instance was faster. */
    private static final String EXISTS = "already exists";

    private LibraryLoader() {}

    /** The result fails if the function cannot be called afterwards. */
    static CompletionStage<?> loadIfMissing(RateLimitLibrary library, Server server) {
        return server.send("FCALL", library.name(), NO_RUN)
                .exceptionallyCompose(thrown -> mentions(IS_MISSING, thrown)
                        ? server.send("FUNCTION", "LOAD", library.text())
                        : CompletableFuture.failedFuture(thrown))
                .exceptionallyCompose(thrown -> mentions(IS_THERE, thrown) || mentions(EXISTS, thrown)
                        ? CompletableFuture.completedFuture(IS_THERE)
                        : CompletableFuture.failedFuture(thrown));
    }

    private static boolean mentions(String reply, Throwable thrown) {
        return RateLimitFunction.messageOf(thrown).contains(reply);
    }

    /** Sends a command to one server. */
    interface Server {

        CompletionStage<String> send(String command, String... arguments);
    }
}
