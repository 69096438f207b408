package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** An application that is shut down while it is called: neither exceptions nor logs tell of it. */
@LongRunning
@Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD)
@ExtendWith(OutputCaptureExtension.class)
class ShutdownTests {

    private static final int CALLS = 300;

    enum Driver {
        LETTUCE,
        ANOTHER
    }

    static class Desk {

        @RateLimited(rate = "1000000/s", keyExpression = "#key")
        public String now(String key) {
            return key;
        }

        @RateLimited(rate = "1000000/s", keyExpression = "#key")
        public CompletableFuture<String> later(String key) {
            return CompletableFuture.completedFuture(key);
        }
    }

    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    private final List<Thread> callers = new ArrayList<>();

    private final AtomicLong now = new AtomicLong();

    private final AtomicLong later = new AtomicLong();

    private volatile boolean over;

    @ParameterizedTest
    @CsvSource({"LETTUCE, LOCAL", "LETTUCE, ALLOW", "ANOTHER, LOCAL", "ANOTHER, ALLOW"})
    void callsGoOnAsIfNothingHadHappened(Driver driver, OnStoreFailure policy, CapturedOutput output) throws Exception {
        AnnotationConfigApplicationContext context = start(driver, policy);
        Desk desk = context.getBean(Desk.class);
        for (int i = 0; i < 2; i++) {
            String key = "key" + i;
            call(() -> {
                desk.now(key);
                now.incrementAndGet();
            });
            call(() -> {
                desk.later(key).join();
                later.incrementAndGet();
            });
        }
        awaitCalls();
        context.close();
        awaitCalls();
        over = true;
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(failures).isEmpty();
        assertThat(output).doesNotContain("on-store-failure", "WARN io.ratelimit", "ERROR", "\tat ");
    }

    private static AnnotationConfigApplicationContext start(Driver driver, OnStoreFailure policy) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of("ratelimit.on-store-failure=" + policy, "ratelimit.redis.timeout=10s")
                .applyTo(context);
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                SharedRedis.get().host(), SharedRedis.get().port());
        if (driver == Driver.LETTUCE) {
            context.registerBean("connections", LettuceConnectionFactory.class, () -> connections);
        } else {
            // Stopped and destroyed before its users, as those of any driver.
            context.registerBean(
                    "lettuce",
                    LettuceConnectionFactory.class,
                    () -> connections,
                    definition -> definition.setAutowireCandidate(false));
            context.registerBean(
                    "connections",
                    RedisConnectionFactory.class,
                    () -> new OtherConnectionFactory(context.getBean("lettuce", LettuceConnectionFactory.class)));
        }
        context.registerBean(Desk.class);
        context.register(AutoConfigurations.getClasses(AutoConfigurations.of(RateLimitAutoConfiguration.class)));
        context.refresh();
        return context;
    }

    private void call(Runnable call) {
        Thread caller = new Thread(() -> {
            while (!over && failures.isEmpty()) {
                try {
                    call.run();
                } catch (Throwable ex) {
                    failures.add(ex);
                }
            }
        });
        caller.setDaemon(true);
        callers.add(caller);
        caller.start();
    }

    /** So many more of each kind. */
    private void awaitCalls() {
        long enoughNow = now.get() + CALLS;
        long enoughLater = later.get() + CALLS;
        await().atMost(Duration.ofSeconds(60))
                .until(() -> !failures.isEmpty() || (now.get() > enoughNow && later.get() > enoughLater));
    }
}
