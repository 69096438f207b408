package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that fails, and what is seen of it, is its own. */
@LongRunning
@Timeout(300)
class OutagesOfSeveralServersTests extends SeveralServers {

    /** An outage of one server is none of the other. */
    @Test
    void killedServerTouchesItsOwnLimitsAlone() {
        try (RedisServer mortal = new RedisServer();
                LogRecorder log = new LogRecorder("io.ratelimit.store")) {
            viaEu(mortal.port()).run(context -> {
                Quotes quotes = context.getBean(Quotes.class);
                quotes.both();
                mortal.kill();
                for (int i = 0; i < 20; i++) {
                    assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(quotes::both);
                    assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(quotes::regional);
                }
                awaitRemaining(context, "global", 3);
                quotes.global();
                assertThat(context.getBean(StoreHealth.class).lastFailures())
                        .extracting(StoreFailure::redis)
                        .containsExactly("eu");
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(failures(meters, "default")).isZero();
                assertThat(failures(meters, "eu")).isPositive();
                assertThat(meters.get("ratelimit.store.state").gauge().value()).isZero();
                assertThat(state(meters, "default")).isOne();
                assertThat(state(meters, "eu")).isZero();
                assertThat(log.text())
                        .contains("Rate limit store 'eu' unavailable")
                        .doesNotContain("'default'");
                Outages outages = context.getBean(Outages.class);
                assertThat(outages.next())
                        .isInstanceOfSatisfying(
                                RateLimitStoreFailureEvent.class,
                                event -> assertThat(event.redis()).isEqualTo("eu"));
                mortal.restart();
                await("the end of the outage")
                        .atMost(SOON)
                        .until(() ->
                                context.getBean(StoreHealth.class).failures().isEmpty());
                assertThat(outages.next())
                        .isInstanceOfSatisfying(
                                RateLimitStoreRecoveredEvent.class,
                                event -> assertThat(event.redis()).isEqualTo("eu"));
                assertThat(outages.events).isEmpty();
                assertThat(state(meters, "eu")).isOne();
            });
        }
    }

    /** A check is enough to know which one, so that health is right at night, too. */
    @Test
    void killedServerIsNamedWithoutACall() {
        try (RedisServer mortal = new RedisServer()) {
            viaEu(mortal.port()).run(context -> {
                mortal.kill();
                await("a check")
                        .atMost(SOON)
                        .untilAsserted(() -> assertThat(
                                        context.getBean(StoreHealth.class).failures())
                                .extracting(StoreFailure::redis)
                                .containsExactly("eu"));
                MeterRegistry meters = context.getBean(MeterRegistry.class);
                assertThat(state(meters, "default")).isOne();
                assertThat(state(meters, "eu")).isZero();
            });
        }
    }

    @Test
    void onlyServerHasNoMeterOfItsOwn() {
        runner.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + home.port())
                .withPropertyValues("ratelimit.limits.regional.redis=default")
                .run(context -> {
                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    assertThat(meters.find("ratelimit.redis.state").gauge()).isNull();
                    assertThat(meters.get("ratelimit.store").timers())
                            .allSatisfy(timer ->
                                    assertThat(timer.getId().getTag("redis")).isNull());
                });
    }

    @Test
    void allTimersOfSeveralServersHaveTheSameTags() {
        application.run(context -> assertThat(context.getBean(MeterRegistry.class)
                        .get("ratelimit.store")
                        .timers())
                .extracting(timer ->
                        timer.getId().getTag("store") + " " + timer.getId().getTag("redis"))
                .containsOnly("redis default", "redis eu", "in_memory none"));
    }

    @Test
    void hangingServerIsGivenUpByItsOwnTimeout() {
        try (RedisServer slow = new RedisServer()) {
            viaEu(slow.port())
                    .withPropertyValues(
                            "ratelimit.redis.eu.timeout=200ms", "ratelimit.limits.regional.on-store-failure=allow")
                    .run(context -> {
                        Quotes quotes = context.getBean(Quotes.class);
                        quotes.both();
                        slow.hang();
                        for (int i = 0; i < 3; i++) {
                            quotes.both();
                        }
                        assertRejected(context, "global");
                        slow.goOn();
                        await("the end of the outage")
                                .atMost(SOON)
                                .until(() -> context.getBean(StoreHealth.class)
                                        .failures()
                                        .isEmpty());
                    });
        }
    }

    @Test
    void restartedContextConnectsAgain() {
        application.run(context -> {
            context.getBean(Quotes.class).both();
            context.stop();
            context.start();
            context.getBean(Quotes.class).both();
            assertThat(limiter(context, "regional").peek("alice").remaining()).isZero();
        });
    }
}
