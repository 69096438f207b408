package io.ratelimit.internal.change;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** Runs a script of the starter that returns text, such as on Redis. */
@FunctionalInterface
public interface ChangeScript {

    /**
     * Runs the script on the key of the overrides. Never blocks; a failure completes the stage, at the latest after a bounded
     * time.
     */
    CompletionStage<String> run(List<String> arguments);
}
