package io.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.test.AutoConfigureRateLimits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestPropertySource;

/** The configuration of the whole application is no mistake of a part of it. */
@WebMvcTest(ShopApplication.class)
@AutoConfigureRateLimits
@TestPropertySource(
        properties = {
            "ratelimit.limits.exports.capacity=2",
            "ratelimit.limits.quotes.capacity=3",
            "ratelimit.limits.invoices.rate=1/h",
            "ratelimit.limits.invoices.pointcut=execution(* io.ratelimit.test.shop.ExportService.*(..))",
            "ratelimit.http[0].path=/quotes",
            "ratelimit.http[0].limit=quotes"
        })
class PartialContextTests {

    @Test
    void sliceWithoutTheLimitedBeansStarts(@Autowired RateLimiterRegistry limits) {
        assertThat(limits.names()).containsExactly("invoices");
    }

    @Test
    void fullContextReportsAMistake() {
        assertThatThrownBy(() -> new TestContextManager(Mistaken.class).prepareTestInstance(new Mistaken()))
                .hasStackTraceContaining("ratelimit.limits.qoutes must name a declared limit");
    }

    @SpringBootTest(properties = "ratelimit.limits.qoutes.capacity=2")
    @AutoConfigureRateLimits
    static class Mistaken {}
}
