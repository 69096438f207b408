package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LongRunning;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** Parent and child contexts that read the same application.yml. */
@LongRunning
class ContextHierarchyTests extends ContextFamily {

    @Test
    void contextsShareLimitsAndBuckets() {
        run(family(WithQuotes.class, WithRateLimitBean.class));
        RateLimiterRegistry ofParent = last.getParent().getBean(RateLimiterRegistry.class);

        assertThat(ofParent.get("quotes").tryAcquire("all").allowed()).isTrue();

        assertThat(limiter("quotes").tryAcquire("all").allowed()).isFalse();
        assertThat(limiter("of-child").tryAcquire("all").allowed()).isTrue();
        assertThat(last.getBean(RateLimiterRegistry.class).names()).containsExactlyInAnyOrder("quotes", "of-child");
        assertThat(ofParent.names()).containsExactly("quotes");
        assertThatThrownBy(() -> ofParent.get("of-child")).hasMessageContaining("There is no limit 'of-child'");
    }

    /** One queue of waiting calls, and one count of the permits in use. */
    @Test
    void releaseInOneContextWakesACallOfTheOther() {
        run(family(WithConcurrency.class, Plain.class));
        RateLimiter ofParent =
                last.getParent().getBean(RateLimiterRegistry.class).get("running");
        RateLimiter.Entry held = ofParent.enter("all");
        CompletableFuture<RateLimiter.Entry> waiting =
                limiter("running").enterAsync("all").toCompletableFuture();

        assertThat(waiting).isNotDone();
        held.close();
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));

        CompletableFuture<RateLimiter.Entry> next = ofParent.enterAsync("all").toCompletableFuture();
        assertThat(next).isNotDone();
        waiting.join().close();
        assertThat(next).succeedsWithin(Duration.ofSeconds(30));
        assertThat(last.getBean(RateLimitGate.class)
                        .heldPermits(
                                last.getBean(LimitCatalog.class).find("running").orElseThrow()))
                .isEqualTo(1);
    }

    @Test
    void callOfTheChildThatWaitsFollowsALimitOfTheParent() {
        run(family(WithConcurrency.class, Plain.class));
        RateLimiter ofChild = limiter("running");
        ofChild.enter("all");
        CompletableFuture<RateLimiter.Entry> waiting = ofChild.enterAsync("all").toCompletableFuture();

        assertThat(waiting).isNotDone();
        last.getParent()
                .getBean(RateLimitAdmin.class)
                .override("running", RateLimitOverride.builder().capacity(2L).build());
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));
    }

    @Test
    void decisionIsCountedOnce() {
        run(family(WithMeters.class, WithQuotes.class));

        quote();

        assertThat(last.getBean(MeterRegistry.class)
                        .get("ratelimit.calls")
                        .tags("limit", "quotes", "outcome", "allowed")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(last.getBean(RecordingListener.class).outcomes()).hasSize(1);
    }

    /** Spring passes what a child publishes on to its parent. */
    @Test
    void changeIsPublishedOnce() {
        run(family(WithChanges.class, WithQuotes.class));
        RateLimitAdmin admin = last.getBean(RateLimitAdmin.class);
        for (long capacity = 2; capacity <= 4; capacity++) {
            admin.override(
                    "quotes", RateLimitOverride.builder().capacity(capacity).build());
        }
        Changes changes = last.getBean(Changes.class);
        await().untilAsserted(() -> assertThat(changes.heard).contains("capacity 4"));
        last.close();
        assertThat(changes.heard.subList(0, 3)).containsExactly("capacity 2", "capacity 3", "capacity 4");
    }

    @Test
    void endpointOfTheChildShowsTheLimitsOfBoth() {
        run(
                family(WithEndpoint.class, WithEndpointAndExports.class),
                "management.endpoints.web.exposure.include=ratelimits");
        assertThat(last.getBean(RateLimitsEndpoint.class).limits(null).limits()).containsOnlyKeys("quotes", "exports");
    }

    @Test
    void childUsesTheConnectionOfItsParent() {
        run(family(WithRedis.class, WithQuotes.class), "ratelimit.store=redis");

        assertThat(last.getBeanFactory().containsLocalBean("rateLimitDefaultStore"))
                .isFalse();
        assertThat(last.getBean(RateLimitStore.class)).isSameAs(last.getParent().getBean(RateLimitStore.class));
        assertThat(last.getBeanNamesForType(RedisServers.class)).isEmpty();
        assertThat(last.getParent().getBeanNamesForType(RedisServers.class)).hasSize(1);
    }

    @Test
    void parentKeepsNothingOfAClosedChild() {
        last = parent(WithQuotes.class).run(all("--ratelimit.partial-context=true"));
        ConfigurableApplicationContext parent = last;
        List<WeakReference<Object>> closed = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            closed.add(runAndClose(parent, i % 2 == 0 ? WithJointQuotes.class : WithEndpoint.class));
        }
        await().until(() -> {
            System.gc();
            return closed.stream().allMatch(child -> child.refersTo(null));
        });
    }

    private static WeakReference<Object> runAndClose(ConfigurableApplicationContext parent, Class<?> source) {
        try (ConfigurableApplicationContext child =
                parent(source).parent(parent).run(all())) {
            child.getBean(RateLimitAdmin.class)
                    .override("quotes", RateLimitOverride.builder().dryRun(true).build());
            return new WeakReference<>(child);
        }
    }

    @Test
    void limitThatAChildCombinesWithAnotherMayBlockWhenTheChildIsClosed() {
        run(family(WithQuotes.class, WithJointQuotes.class));
        RateLimitAdmin admin = last.getParent().getBean(RateLimitAdmin.class);
        RateLimitOverride blocking = RateLimitOverride.builder()
                .blockFor(List.of(Duration.ofMinutes(1)))
                .build();
        assertThatThrownBy(() -> admin.override("quotes", blocking))
                .hasMessageContaining("blockFor must not be set for limits of one call that different stores decide");
        last.close();
        assertThat(admin.override("quotes", blocking).effective().blockFor()).hasSize(1);
    }
}
