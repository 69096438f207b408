package io.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = {"ratelimit.store=in-memory", "ratelimit.enabled=true"})
@DisableRateLimits
class DisabledShopTests {

    @Autowired
    ExportService exports;

    @Test
    void classIsNotLimited() {
        exports.export("acme");
        exports.export("acme");
    }

    @Nested
    class Inherited {

        @Test
        void nestedClassIsNotLimited() {
            exports.export("acme");
            exports.export("acme");
        }
    }

    @Nested
    @AutoConfigureRateLimits
    class Limited {

        @Test
        void nearerAnnotationApplies(@Autowired ExportService exports) {
            exports.export("acme");
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> exports.export("acme"));
        }

        @Nested
        @DisableRateLimits
        class NotAgain {

            @Test
            void nearestAnnotationApplies(@Autowired ExportService exports) {
                exports.export("acme");
                exports.export("acme");
            }
        }
    }

    @Nested
    @AutoConfigureRateLimits
    @DisableRateLimits
    class Both {

        @Test
        void disablingWins(@Autowired ExportService exports) {
            exports.export("acme");
            exports.export("acme");
        }
    }
}
