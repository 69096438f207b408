package io.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/** Scripts that are answered when the test says so: what remains is the number of the permits asked for. */
public final class HeldScripts implements RateLimitScriptExecutor {

    private final List<Run> runs = new ArrayList<>();

    private boolean clustered;

    private boolean isNonBlocking;

    private Error error;

    public record Run(List<String> keys, String codes, List<String> permits, CompletableFuture<List<Long>> reply) {

        public void answer() {
            reply.complete(permits.stream()
                    .flatMap(permit -> List.of(Long.parseLong(permit), 0L, 0L, 0L).stream())
                    .toList());
        }

        public boolean isCancelled() {
            return reply.isCancelled();
        }
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        if (error != null) {
            throw error;
        }
        Run run = new Run(
                keys.stream().map(HeldScripts::text).toList(),
                text(arguments[0]),
                IntStream.range(0, keys.size())
                        .mapToObj(i -> text(arguments[2 + 2 * i]))
                        .toList(),
                new CompletableFuture<>());
        runs.add(run);
        if (isNonBlocking) {
            run.answer();
        }
        return run.reply;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Override
    public RedisTopology topology() {
        return clustered ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER;
    }

    public Run run(int number) {
        return runs.get(number);
    }

    /** Those that were sent. */
    public List<Run> runs() {
        return runs;
    }

    /** It is one from now on. */
    public void becomeCluster() {
        clustered = true;
    }

    /** Those to come are answered as they are sent. */
    public void answerAtOnce() {
        isNonBlocking = true;
    }

    /** Lets those to come throw this; {@code null}: nothing. */
    public void failWith(Error thrown) {
        error = thrown;
    }
}
