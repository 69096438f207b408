package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class RepeatedAnnotationTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void callIsChargedToBothLimits() {
        runner.withBean(Twice.class).run(context -> {
            Twice bean = context.getBean(Twice.class);
            bean.call();
            assertThat(context.getBean(RecordingListener.class).outcomes())
                    .containsExactlyInAnyOrder("burst ALLOWED", "sustained ALLOWED");
            assertRejected("burst", bean::call);
            assertThat(context.getBean(RecordingListener.class).outcomes()).contains("burst REJECTED");
        });
    }

    @Test
    void rejectedCallIsChargedToNone() {
        runner.withBean(Twice.class).run(context -> {
            Twice bean = context.getBean(Twice.class);
            StoppedClock clock = context.getBean(StoppedClock.class);
            bean.call();
            for (int i = 0; i < 10; i++) {
                assertRejected("burst", bean::call);
            }
            for (int i = 0; i < 2; i++) {
                clock.advance(Duration.ofSeconds(1));
                bean.call();
            }
            clock.advance(Duration.ofSeconds(1));
            assertRejected("sustained", bean::call);
        });
    }

    @Test
    void rejectedCallNamesEveryLimitThatRejects() {
        runner.withBean(Both.class).run(context -> {
            Both bean = context.getBean(Both.class);
            bean.call();
            assertThat(catchThrowable(bean::call)).hasMessage("Rate limit 'slow', 'fast' exceeded");
        });
    }

    @Test
    void limitInDryRunIsChargedEvenIfAnotherRejects() {
        runner.withBean(Twice.class)
                .withPropertyValues("ratelimit.limits.burst.dry-run=true")
                .run(context -> {
                    Twice bean = context.getBean(Twice.class);
                    bean.call();
                    bean.call();
                    bean.call();
                    assertRejected("sustained", bean::call);
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .containsOnlyOnce("burst ALLOWED")
                            .contains("burst DRY_RUN_REJECTED", "sustained REJECTED");
                });
    }

    @Test
    void disabledLimitIsLeftOut() {
        runner.withBean(Twice.class)
                .withPropertyValues("ratelimit.limits.burst.enabled=false")
                .run(context -> {
                    Twice bean = context.getBean(Twice.class);
                    bean.call();
                    bean.call();
                    bean.call();
                    assertRejected("sustained", bean::call);
                });
    }

    @Test
    void eachLimitHasItsOwnKeyAndCost() {
        runner.withBean(Keyed.class).run(context -> {
            context.getBean(Keyed.class).upload("alice", 7);
            assertThat(context.getBean(RecordingListener.class).charges())
                    .extracting(charge -> charge.limit().name(), Charge::key, Charge::permits)
                    .containsExactlyInAnyOrder(tuple("calls", "alice", 1L), tuple("bytes", null, 7L));
        });
    }

    @Test
    void limitWhoseConditionIsFalseIsLeftOut() {
        runner.withBean(Keyed.class).run(context -> {
            context.getBean(Keyed.class).upload("alice", 0);
            assertThat(context.getBean(RecordingListener.class).outcomes()).containsExactly("calls ALLOWED");
        });
    }

    static class Keyed {

        @RateLimited(name = "calls", rate = "10/s", keyExpression = "#user")
        @RateLimited(name = "bytes", rate = "10/s", permits = "#size", condition = "#size > 0")
        public void upload(String user, int size) {}
    }

    static class Twice {

        @RateLimited(name = "burst", rate = "1/s")
        @RateLimited(name = "sustained", rate = "3/h")
        public void call() {}
    }

    static class Both {

        @RateLimited(name = "fast", rate = "1/s")
        @RateLimited(name = "slow", rate = "1/m")
        public void call() {}
    }
}
