package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseBody;

/** A call that may end at any time pays for itself alone: a later dispatch takes permits of its own. */
@Timeout(60)
class SharedPermitTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.exports.algorithm=concurrency",
            "ratelimit.limits.exports.capacity=2",
            "ratelimit.limits.imports.rate=10/d",
            "ratelimit.limits.imports.refund-on=java.io.IOException");

    @Test
    void permitIsHeldWhileACallOfALaterDispatchRuns() {
        Progress progress = application.bean(Progress.class);
        RateLimiter exports = application.limiter("exports");
        CompletableFuture<RawHttp.Answer> answer = CompletableFuture.supplyAsync(() -> application.get("first"));
        await().until(() -> progress.running.get() == 1);
        assertThat(exports.allCallers().peek().remaining()).isZero();

        progress.earlier.complete("done");

        try {
            await().during(Duration.ofMillis(200))
                    .atMost(Duration.ofSeconds(5))
                    .untilAsserted(() -> assertThat(exports.allCallers().peek().remaining())
                            .as("free permits, while a call runs")
                            .isOne());
        } finally {
            progress.leave.release();
            assertThat(answer.join().status()).isEqualTo(200);
        }
    }

    @Test
    void callOfALaterDispatchIsChargedAlthoughItsEarlierCallIsRefunded() {
        Progress progress = application.bean(Progress.class);
        assertThat(application.get("first-import").status()).isEqualTo(200);
        assertThat(used()).isEqualTo(2);
        progress.failing.completeExceptionally(new IOException("expected by the test"));
        await().during(Duration.ofMillis(200))
                .atMost(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(used()).isEqualTo(1));
    }

    private static long used() {
        return 10 - application.limiter("imports").allCallers().peek().remaining();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Progress progress() {
            return new Progress();
        }

        @Bean
        Service service(Progress progress) {
            return new Service(progress);
        }

        @Bean
        Handlers handlers(Service service) {
            return new Handlers(service);
        }
    }

    /** What the calls wait for. */
    static final class Progress {

        private final CompletableFuture<String> earlier = new CompletableFuture<>();

        private final CompletableFuture<String> failing = new CompletableFuture<>();

        private final AtomicInteger running = new AtomicInteger();

        private final Semaphore leave = new Semaphore(0);
    }

    static class Service {

        private final Progress progress;

        Service(Progress progress) {
            this.progress = progress;
        }

        @RateLimited("exports")
        public CompletableFuture<String> later() {
            return progress.earlier;
        }

        @RateLimited("imports")
        public CompletableFuture<String> fails() {
            return progress.failing;
        }

        @RateLimited("imports")
        public void succeeds() {}

        @RateLimited("exports")
        public void export() {
            progress.running.incrementAndGet();
            try {
                assertThat(progress.leave.tryAcquire(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            } finally {
                progress.running.decrementAndGet();
            }
        }
    }

    @Controller
    static class Handlers {

        private final Service service;

        Handlers(Service service) {
            this.service = service;
        }

        @GetMapping("/first")
        public String first() {
            var unused = service.later();
            return "forward:/second";
        }

        @GetMapping("/first-import")
        public String firstImport() {
            var unused = service.fails();
            return "forward:/second-import";
        }

        @GetMapping("/second-import")
        @ResponseBody
        public String secondImport() {
            service.succeeds();
            return "done";
        }

        @GetMapping("/second")
        @ResponseBody
        public String second() {
            service.export();
            return "done";
        }
    }
}
