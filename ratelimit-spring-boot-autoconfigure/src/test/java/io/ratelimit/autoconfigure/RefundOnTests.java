package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.LimitAttributes;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;

/** Failures that refund permits, in the configuration. */
class RefundOnTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Quotes.class);

    @Test
    void listOfClassesIsBound() {
        runner.withPropertyValues(
                        "ratelimit.limits.quotes.refund-on[0]=java.io.IOException",
                        "ratelimit.limits.quotes.refund-on[1]=java.util.concurrent.TimeoutException")
                .run(context -> assertThat(context.getBean(LimitCatalog.class)
                                .settings()
                                .of("quotes")
                                .get(LimitAttributes.REFUND_ON))
                        .isEqualTo(List.of(IOException.class, TimeoutException.class)));
    }

    @Test
    void commasSeparateClasses() {
        runner.withPropertyValues(
                        "ratelimit.limits.quotes.refund-on=java.io.IOException, java.util.concurrent.TimeoutException")
                .run(context -> assertThat(context.getBean(LimitCatalog.class)
                                .settings()
                                .of("quotes")
                                .get(LimitAttributes.REFUND_ON))
                        .isEqualTo(List.of(IOException.class, TimeoutException.class)));
    }

    @Test
    void emptyListWinsOverTheAnnotation() {
        runner.withPropertyValues("ratelimit.limits.quotes.refund-on=")
                .run(context -> assertThat(context.getBean(LimitCatalog.class)
                                .settings()
                                .of("quotes")
                                .get(LimitAttributes.REFUND_ON))
                        .isEmpty());
    }

    @ParameterizedTest
    @CsvSource({"com.acme.NoSuchException", "java.lang.String"})
    void whatIsNoFailureStopsTheStartUpAndThePropertyIsNamed(String type) {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource("file", Map.of("ratelimit.limits.quotes.refund-on", type))))
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains("ratelimit.limits.quotes.refund-on", type));
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s", refundOn = IllegalStateException.class)
        public void quote() {}
    }
}
