package io.ratelimit.internal.change;

import io.ratelimit.RateLimitOverride;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Stores the overrides in Redis: one value for all limits, so that they are read by one command. */
final class ScriptedOverrideRepository implements OverrideRepository {

    private final ChangeScript script;

    private final OverrideCodec codec = new OverrideCodec();

    ScriptedOverrideRepository(ChangeScript script) {
        this.script = script;
    }

    @Override
    public CompletionStage<OverrideSnapshot> read() {
        return script.run(List.of()).thenApply(codec::decode);
    }

    @Override
    public CompletionStage<OverrideSnapshot> write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion) {
        Duration duration = next == null ? null : next.duration();
        return script.run(List.of(
                        id,
                        Long.toString(expectedVersion),
                        duration == null ? "0" : Long.toString(duration.toNanos() / 1_000),
                        next == null ? "" : codec.encode(next, principal)))
                .thenApply(codec::decode);
    }

    @Override
    public boolean isShared() {
        return true;
    }
}
