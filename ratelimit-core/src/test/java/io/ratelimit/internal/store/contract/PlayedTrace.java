package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.store.contract.TraceStep.Retry;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A trace that a store has been asked to decide. Its answers may still be on their way. */
final class PlayedTrace {

    private final List<TraceStep> steps;

    private final List<CompletionStage<List<RateLimitDecision>>> answers = new ArrayList<>();

    PlayedTrace(List<TraceStep> steps, RateLimitStore store, TestClock clock) {
        this.steps = steps;
        for (TraceStep step : steps) {
            clock.set(step.now());
            answers.add(store.decide(StoreRequest.of(step.charges())).toStage().thenApply(StoreOutcome::decisions));
        }
    }

    int check() {
        int decisions = 0;
        for (int i = 0; i < steps.size(); i++) {
            TraceStep step = steps.get(i);
            int number = i;
            List<RateLimitDecision> answer =
                    answers.get(i).toCompletableFuture().join();
            assertThat(answer).as(() -> history(number)).isEqualTo(step.expected());
            if (step.retry() != Retry.NONE) {
                assertThat(answer.get(0).allowed())
                        .as(() -> step.retry() + " " + history(number))
                        .isEqualTo(step.retry() == Retry.IN_TIME);
            }
            decisions += answer.size();
        }
        return decisions;
    }

    private String history(int last) {
        return steps.get(0).charges().stream().map(Charge::limit).toList() + " after " + steps.subList(0, last + 1);
    }
}
