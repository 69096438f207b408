package io.ratelimit.test.context;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestPropertySource;

/** A test method that turns limits off is never limited without a word. */
class DisabledMethodTests {

    @Test
    void methodCannotTurnTheLimitsOfAnotherStoreOff() {
        assertThatIllegalStateException()
                .isThrownBy(() -> run(new WithoutAnnotation()))
                .withMessage("@DisableRateLimits on the method unlimited must be in a class with"
                        + " @AutoConfigureRateLimits. Add this, or annotate the class.");
        assertThatIllegalStateException()
                .isThrownBy(() -> run(new WithStoreOfItsOwn()))
                .withMessage("@DisableRateLimits must be on the class if the application has its own RateLimitStore");
    }

    @Test
    void methodOfATestWithoutLimitsNeedsNothing() {
        assertThatCode(() -> run(new WithoutLimits())).doesNotThrowAnyException();
    }

    private static void run(Object test) throws Exception {
        TestContextManager manager = new TestContextManager(test.getClass());
        manager.prepareTestInstance(test);
        manager.beforeTestMethod(test, test.getClass().getSuperclass().getDeclaredMethod("unlimited"));
    }

    static class OneMethod {

        @DisableRateLimits
        void unlimited() {}
    }

    @ContextConfiguration
    @TestPropertySource(properties = "ratelimit.store=in-memory")
    static class WithoutAnnotation extends OneMethod {

        @Configuration(proxyBeanMethods = false)
        @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
        static class Application {}
    }

    @ContextConfiguration
    @AutoConfigureRateLimits
    static class WithStoreOfItsOwn extends OneMethod {

        @Configuration(proxyBeanMethods = false)
        @AutoConfigureRateLimits
        static class Application {

            @Bean
            RateLimitStore ownStore() {
                return new InMemoryRateLimitStore(TimeSource.monotonic(), 10);
            }
        }
    }

    @ContextConfiguration
    static class WithoutLimits extends OneMethod {

        @Configuration(proxyBeanMethods = false)
        static class Application {}
    }
}
