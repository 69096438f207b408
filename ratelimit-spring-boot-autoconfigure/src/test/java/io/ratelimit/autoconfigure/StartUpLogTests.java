package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** What the log says of the limits when an application has started. */
class StartUpLogTests {

    private static final String HERE = StartUpLogTests.class.getName();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    private final LogRecorder log = LogRecorder.ofThisThread("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @Test
    void limitsAreSortedAndShowTheirKeys() {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.charlie.key-expression=#user.length()")
                .run(context -> assertThat(lines())
                        .containsExactly(
                                "Rate limits are counted in memory, by each instance on its own",
                                "Rate limit 'alpha': TOKEN_BUCKET, capacity 1 at 1/s, key all-callers, on " + HERE
                                        + "$Quotes.alpha(String)",
                                "Rate limit 'bravo': TOKEN_BUCKET, capacity 1 at 1/s, key #user or #tenant, on " + HERE
                                        + "$Quotes.bravo(String), " + HERE + "$Quotes.otherBravo(String)",
                                "Rate limit 'charlie': TOKEN_BUCKET, capacity 1 at 1/s, key #user.length(), on " + HERE
                                        + "$Quotes.charlie(String)"));
    }

    @Test
    void placesOfOneLimitAreSummedUpIfThereAreMany() {
        runner.withBean(Clients.class)
                .withBean(OtherClient.class)
                .withPropertyValues(
                        "ratelimit.limits.clients.rate=1/s", "ratelimit.limits.clients.pointcut=within(" + HERE + ".*)")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(lines())
                            .contains(
                                    "Rate limit 'clients': TOKEN_BUCKET, capacity 1 at 1/s, key all-callers, on 6 methods of "
                                            + HERE + "$Clients, " + HERE
                                            + "$OtherClient; declared by the configuration alone");
                });
    }

    @Test
    void limitsOfTheConfigurationAreNotMisspellingsOfEachOther() {
        runner.withPropertyValues(
                        "ratelimit.limits.l.rate=1/s",
                        "ratelimit.limits.m.rate=1/s",
                        "ratelimit.limits.api-1.rate=1/s",
                        "ratelimit.limits.api-2.rate=1/s")
                .run(context -> assertThat(log.text())
                        .contains(
                                "Rate limit 'm': TOKEN_BUCKET, capacity 1 at 1/s; declared by the configuration alone")
                        .doesNotContain("WARN", "did you mean"));
    }

    @Test
    void shortNameIsNoMisspellingOfAnotherShortName() {
        runner.withBean(ShortName.class)
                .withPropertyValues("ratelimit.limits.l.rate=1/s")
                .run(context -> assertThat(log.text()).doesNotContain("WARN", "did you mean"));
    }

    @Test
    void serverAndKeyPrefixInForceAreShown() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(Quotes.class)
                .withBean(RedisConnectionFactory.class, () -> SharedRedis.get().connect())
                .withPropertyValues(
                        "spring.application.name=orders", "ratelimit.redis.key-prefix=${spring.application.name}")
                .run(context -> assertThat(lines())
                        .startsWith("Rate limits are counted in Redis at "
                                + SharedRedis.get().host() + ":"
                                + SharedRedis.get().port() + ", under the key prefix 'orders'"));
    }

    private List<String> lines() {
        return log.text()
                .lines()
                .filter(line -> line.contains("Rate limit"))
                .map(line -> line.substring(line.indexOf("Rate limit")))
                .toList();
    }

    static class Quotes {

        @RateLimited(name = "charlie", rate = "1/s", keyExpression = "#user")
        public void charlie(String user) {}

        @RateLimited(name = "alpha", rate = "1/s")
        public void alpha(String user) {}

        @RateLimited(name = "bravo", rate = "1/s", keyExpression = "#user")
        public void bravo(String user) {}

        @RateLimited(name = "bravo", rate = "1/s", keyExpression = "#tenant")
        public void otherBravo(String tenant) {}
    }

    static class Clients {

        public void one() {}

        public void two() {}

        public void three() {}

        public void four() {}
    }

    static class OtherClient {

        public void one() {}

        public void two() {}
    }

    static class ShortName {

        @RateLimited(name = "m", rate = "1/s")
        public void call() {}
    }
}
