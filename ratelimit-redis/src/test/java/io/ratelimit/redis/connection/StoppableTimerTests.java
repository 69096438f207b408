package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.HashedWheelTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoppableTimerTests {

    private final StoppableTimer timer = new StoppableTimer(new HashedWheelTimer());

    @AfterEach
    void stop() {
        timer.stop();
    }

    @Test
    void tasksOfAClientThatHasEndedAreDropped() {
        List<String> run = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> last = new CompletableFuture<>();
        timer.newTimeout(timeout -> run.add("of the client that ends"), 100, TimeUnit.MILLISECONDS);
        timer.drop();
        timer.newTimeout(
                timeout -> {
                    run.add("of the next client");
                    last.complete(null);
                },
                300,
                TimeUnit.MILLISECONDS);
        assertThat(last).succeedsWithin(Duration.ofSeconds(30));
        assertThat(run).containsExactly("of the next client");
    }
}
