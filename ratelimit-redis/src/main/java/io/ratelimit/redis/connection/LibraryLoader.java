package io.ratelimit.redis.connection;

import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.ratelimit.redis.RateLimitLibrary;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Loads the library into servers that do not have it. Looks for it by a call with an impossible number of keys, which runs
 * nothing, and tells a missing function from one that may not be called.
 */
final class LibraryLoader {

    private static final String NO_RUN = "-1";

    private static final String IS_THERE = "can't be negative";

    private static final String IS_MISSING = "Function not found";

    /** Another instance was faster. */
    private static final String EXISTS = "already exists";

    private LibraryLoader() {}

    /** The result fails if the function cannot be called afterwards on the server, or on a master of the cluster. */
    @SuppressWarnings("deprecation") // Nothing else connects to a master without blocking.
    static CompletionStage<Void> load(RateLimitLibrary library, RedisClusterAsyncCommands<byte[], byte[]> servers) {
        return servers instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster
                ? loadIntoMasters(library, cluster.getStatefulConnection())
                : loadIfMissing(library, servers).thenAccept(done -> {});
    }

    /** A former master that is down has no slots any more. */
    private static CompletionStage<Void> loadIntoMasters(
            RateLimitLibrary library, StatefulRedisClusterConnection<byte[], byte[]> cluster) {
        return CompletableFuture.allOf(cluster.getPartitions().stream()
                .filter(node -> node.getRole().isUpstream() && !node.getSlots().isEmpty())
                .map(node -> cluster.getConnectionAsync(
                                node.getUri().getHost(), node.getUri().getPort())
                        .thenCompose(master -> loadIfMissing(library, master.async())))
                .toArray(CompletableFuture[]::new));
    }

    private static CompletionStage<String> loadIfMissing(
            RateLimitLibrary library, RedisClusterAsyncCommands<byte[], byte[]> server) {
        CommandArgs<byte[], byte[]> words =
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add(library.name()).add(NO_RUN);
        return server.dispatch(CommandType.FCALL, new StatusOutput<>(ByteArrayCodec.INSTANCE), words)
                .exceptionallyCompose(thrown -> mentions(IS_MISSING, thrown)
                        ? server.functionLoad(library.text())
                        : CompletableFuture.failedFuture(thrown))
                .exceptionallyCompose(thrown -> mentions(IS_THERE, thrown) || mentions(EXISTS, thrown)
                        ? CompletableFuture.completedFuture(IS_THERE)
                        : CompletableFuture.failedFuture(thrown));
    }

    private static boolean mentions(String reply, Throwable thrown) {
        return RateLimitFunction.messageOf(thrown).contains(reply);
    }
}
