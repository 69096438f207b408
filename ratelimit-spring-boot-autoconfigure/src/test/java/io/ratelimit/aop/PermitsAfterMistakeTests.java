package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.annotation.Async;

/** Actual costs that cannot be known stop the start-up. */
class PermitsAfterMistakeTests {

    private static void assertRefused(Class<?> bean, String problem) {
        LimitedContexts.inMemory()
                .withBean(bean)
                .run(context -> assertThat(analysis(context).getDescription()).contains(problem));
    }

    @Test
    void mistakesStopTheStartUp() {
        assertRefused(OfFuture.class, "permitsAfter of the limit 'future' must be empty");
        assertRefused(HandedOver.class, "because an @Async method that returns void has returned before it begins");
        assertRefused(OfConcurrency.class, "permitsAfter must not be set for the algorithm CONCURRENCY");
        assertRefused(Free.class, "permits must be at least 1 with permitsAfter");
        assertRefused(OfParameter.class, "must not be used on a method with a parameter named result");
        assertRefused(OfUnknown.class, "names #reslt, but the method has no such parameter");
        assertRefused(OfRequest.class, "uses clientIp, but the cost is computed after the call");
        LimitedContexts.inMemory()
                .withBean(TokenModel.class)
                .withBean("sum", Collector.class, () -> Collectors.counting())
                .withPropertyValues("ratelimit.limits.value.permits-after=#resul.tokens")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.value.permits-after", "#resul"));
    }

    static class HandedOver {

        @Async
        @RateLimited(name = "later", rate = "1/s", permitsAfter = "5")
        void later() {}
    }

    static class OfFuture {

        @RateLimited(name = "future", rate = "1/s", permitsAfter = "#result")
        Future<Integer> future() {
            return CompletableFuture.completedFuture(1);
        }
    }

    static class OfConcurrency {

        @RateLimited(algorithm = Algorithm.CONCURRENCY, capacity = 2, permitsAfter = "#result")
        int held() {
            return 1;
        }
    }

    static class Free {

        @RateLimited(rate = "1/s", permits = "0", permitsAfter = "#result")
        int free() {
            return 1;
        }
    }

    static class OfParameter {

        @RateLimited(rate = "1/s", permitsAfter = "#result")
        int of(int result) {
            return result;
        }
    }

    static class OfUnknown {

        @RateLimited(rate = "1/s", permitsAfter = "#reslt")
        int of(int tokens) {
            return tokens;
        }
    }

    static class OfRequest {

        @RateLimited(rate = "1/s", permitsAfter = "clientIp.length()")
        int of(int tokens) {
            return tokens;
        }
    }
}
