package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitStatisticsAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.internal.statistics.InstanceCount;
import io.ratelimit.internal.statistics.KeyReport;
import io.ratelimit.internal.statistics.Publication;
import io.ratelimit.internal.statistics.SharedStatistics;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.QueryTimeoutException;

/** {@code ratelimit.expected-instances}: instances of an application while Redis is down. */
@LongRunning
class ExpectedInstancesTests {

    private final ApplicationContextRunner instance = LimitedContexts.inMemory()
            .withBean(Quotes.class)
            .withBean(FailingExecutor.class)
            .withBean(
                    "exports",
                    RateLimit.class,
                    () -> RateLimit.named("exports").rate("5/h").build())
            .withPropertyValues(
                    "ratelimit.store=redis", "ratelimit.expected-instances=2", "ratelimit.limits.uploads.rate=8/h");

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @Test
    void twoInstancesTogetherAdmitTheCapacityAndNoMore() {
        instance.run(one -> instance.run(another -> {
            assertThat(admitted(one, "quotes") + admitted(another, "quotes")).isEqualTo(10);
            assertThat(admitted(one, "exports") + admitted(another, "exports")).isEqualTo(4);
            assertThat(admitted(one, "uploads") + admitted(another, "uploads")).isEqualTo(8);
        }));
    }

    @Test
    void withOneInstanceTheLimitAppliesInFull() {
        instance.withPropertyValues("ratelimit.expected-instances=1")
                .run(context -> assertThat(admitted(context, "quotes")).isEqualTo(10));
    }

    @Test
    void limitIsDividedByTheInstancesThatWereCountedAndByTheConfiguredNumberAtLeast() {
        assertThat(shareOfFive("auto")).isEqualTo(2);
        assertThat(shareOfFive("2")).isEqualTo(2);
        assertThat(shareOfFive("10")).isEqualTo(1);
        assertThat(shareOfFive("1")).isEqualTo(10);
    }

    private long shareOfFive(String expected) {
        AtomicLong admitted = new AtomicLong();
        CountingStatistics shared = new CountingStatistics();
        instance.withConfiguration(AutoConfigurations.of(RateLimitStatisticsAutoConfiguration.class))
                .withBean(SharedStatistics.class, () -> shared)
                .withPropertyValues("ratelimit.statistics.enabled=true", "ratelimit.expected-instances=" + expected)
                .run(context -> {
                    await().until(() -> context.getBean(InstanceCount.class).get() == 5);
                    admitted.set(admitted(context, "quotes"));
                });
        return admitted.get();
    }

    @Test
    void endpointTellsTheNumberThatLimitsAreDividedBy() {
        CountingStatistics shared = new CountingStatistics();
        ApplicationContextRunner watched = instance.withConfiguration(AutoConfigurations.of(
                        RateLimitStatisticsAutoConfiguration.class, RateLimitsEndpointAutoConfiguration.class))
                .withBean(SharedStatistics.class, () -> shared)
                .withPropertyValues("management.endpoints.web.exposure.include=ratelimits");
        watched.run(context -> await().untilAsserted(
                        () -> assertThat(expectedInstances(context)).isEqualTo(5)));
        watched.withPropertyValues("ratelimit.expected-instances=10")
                .run(context -> assertThat(expectedInstances(context)).isEqualTo(10));
        watched.withPropertyValues("ratelimit.store=in-memory")
                .run(context -> assertThat(expectedInstances(context)).isNull());
    }

    private static @Nullable Integer expectedInstances(ApplicationContext context) {
        return context.getBean(RateLimitsEndpoint.class).limits(null).store().expectedInstances();
    }

    @Test
    void withoutFiguresAutoIsOneInstance() {
        instance.withPropertyValues("ratelimit.expected-instances=auto")
                .run(context -> assertThat(admitted(context, "quotes")).isEqualTo(10));
    }

    @Test
    void inMemoryStoreAppliesTheLimitInFull() {
        instance.withPropertyValues("ratelimit.store=in-memory")
                .run(context -> assertThat(admitted(context, "quotes")).isEqualTo(10));
    }

    @Test
    void fewerThanOneInstanceStopsTheStartUp() {
        instance.withPropertyValues("ratelimit.expected-instances=0").run(context -> {
            assertThat(analysis(context).getDescription())
                    .contains("ratelimit.expected-instances must be auto or a number of at least 1 (was 0).");
            assertThat(analysis(context).getAction()).contains("the least number of instances");
        });
        instance.withPropertyValues("ratelimit.store=in-memory", "ratelimit.expected-instances=-1")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void limitThatCannotBeDividedExactlyStopsTheStartUp() {
        instance.withPropertyValues("ratelimit.expected-instances=2000000000").run(context -> {
            assertThat(analysis(context).getDescription())
                    .contains(Quotes.class.getName() + ".quote()")
                    .contains(
                            "ratelimit.expected-instances must divide limit 'quotes' (TOKEN_BUCKET, capacity 10 at 10/h) exactly");
            assertThat(analysis(context).getAction()).contains("ratelimit.limits.quotes.on-store-failure");
        });
        instance.withPropertyValues("ratelimit.expected-instances=2000000000", "ratelimit.on-store-failure=allow")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void limitWithLessThanOnePermitForEachIsWarnedOf() {
        instance.withPropertyValues("ratelimit.expected-instances=6").run(context -> {
            assertThat(admitted(context, "exports")).isEqualTo(1);
            assertThat(log.text().lines().filter(line -> line.contains("ratelimit.expected-instances")))
                    .singleElement()
                    .asString()
                    .contains("WARN", "'exports'", "capacity 5");
        });
    }

    private static long admitted(ApplicationContext context, String limit) {
        var limiter = context.getBean(RateLimiterRegistry.class).get(limit);
        return Stream.generate(() -> limiter.tryAcquire("key"))
                .limit(20)
                .filter(RateLimitDecision::allowed)
                .count();
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "10/h")
        public void quote() {}
    }

    /** Has counted five instances. */
    static class CountingStatistics implements SharedStatistics {

        @Override
        public CompletionStage<Receipt> publish(Publication publication) {
            return CompletableFuture.completedFuture(new Receipt(publication.nowMicros(), 5, true));
        }

        @Override
        public CompletionStage<Snapshot> read(long first, long last, @Nullable String limit) {
            throw new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "not read by these tests", null);
        }

        @Override
        public CompletionStage<?> publishKeys(String instance, Map<String, KeyReport> reports) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Map<String, KeyReport>> readKeys(String limit) {
            throw new UnsupportedOperationException();
        }
    }

    static class FailingExecutor implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            throw new QueryTimeoutException("Redis hangs");
        }
    }
}
