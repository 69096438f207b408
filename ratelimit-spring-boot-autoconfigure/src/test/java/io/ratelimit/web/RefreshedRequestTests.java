package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A refresh gives the limit of a URL rule the algorithm CONCURRENCY, or takes it away, in the middle of a request. */
@Timeout(180)
class RefreshedRequestTests {

    @Nested
    class OnTomcat extends Contract {

        @RegisterExtension
        static final RunningApplication server = application(WebApplicationType.SERVLET);

        @Override
        RunningApplication server() {
            return server;
        }
    }

    @Nested
    class OnNetty extends Contract {

        @RegisterExtension
        static final RunningApplication server = application(WebApplicationType.REACTIVE);

        @Override
        RunningApplication server() {
            return server;
        }
    }

    private static RunningApplication application(WebApplicationType type) {
        return new RunningApplication(
                type,
                Application.class,
                "ratelimit.limits.exports.rate=5/h",
                "ratelimit.limits.exports.capacity=5",
                "ratelimit.limits.exports.key-expression=@refresher.key()",
                "ratelimit.http[0].path=/exports",
                "ratelimit.http[0].limit=exports");
    }

    abstract static class Contract {

        abstract RunningApplication server();

        @BeforeEach
        void begin() {
            refresher().inTheKey = () -> {};
            refresher().inTheHandler = () -> {};
            refresher().toRate();
            limiter().reset("alice");
        }

        @Test
        void permitIsReleasedIfTheLimitGetsTheAlgorithmBeforeItDecides() {
            refresher().inTheKey = refresher()::toConcurrency;
            refresher().inTheHandler = () -> assertThat(remaining()).isEqualTo(4);
            get();
            await().until(() -> remaining() == 5);
        }

        @Test
        void permitIsReleasedIfTheLimitLosesTheAlgorithmMeanwhile() {
            refresher().toConcurrency();
            refresher().inTheHandler = refresher()::toRate;
            get();
            refresher().toConcurrency();
            await().until(() -> remaining() == 5);
        }

        @Test
        void nothingIsReleasedIfTheLimitGetsTheAlgorithmMeanwhile() {
            refresher().inTheHandler = refresher()::toConcurrency;
            get();
            try (RateLimiter.Entry other = limiter().enter("alice")) {
                assertThat(other).isNotNull();
                refresher().toRate();
                get();
                assertThat(remaining()).isEqualTo(4);
            }
            assertThat(remaining()).isEqualTo(5);
        }

        private void get() {
            assertThat(server().get("exports").status()).isEqualTo(200);
        }

        private long remaining() {
            return limiter().peek("alice").remaining();
        }

        private RateLimiter limiter() {
            return server().limiter("exports");
        }

        private Refresher refresher() {
            return server().bean(Refresher.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Refresher refresher(ConfigurableApplicationContext context) {
            return new Refresher(context);
        }

        @Bean
        Exports exports(Refresher refresher) {
            return new Exports(refresher);
        }
    }

    @RestController
    record Exports(Refresher refresher) {

        @GetMapping("/exports")
        public String export() {
            refresher.inTheHandler.run();
            return "";
        }
    }

    static final class Refresher {

        private final ConfigurableApplicationContext context;

        private volatile Runnable inTheKey = () -> {};

        private volatile Runnable inTheHandler = () -> {};

        Refresher(ConfigurableApplicationContext context) {
            this.context = context;
        }

        public String key() {
            inTheKey.run();
            return "alice";
        }

        void toConcurrency() {
            refresh("concurrency", "");
        }

        void toRate() {
            refresh("token-bucket", "5/h");
        }

        private void refresh(String algorithm, String rate) {
            TestPropertyValues.of(
                            "ratelimit.limits.exports.algorithm=" + algorithm, "ratelimit.limits.exports.rate=" + rate)
                    .applyTo(context);
            context.publishEvent(new EnvironmentChangeEvent(context));
        }
    }
}
