package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.StoppedClock;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

/** What a rejection does to a method that a schedule calls, as docs/jobs.md has it. */
@ExtendWith(OutputCaptureExtension.class)
class ScheduledMethodTests {

    @ParameterizedTest
    @CsvSource({"jobs, ERROR", "reactive-jobs, WARN"})
    void rejectedRunIsLoggedAndTheScheduleGoesOn(String limit, String level, CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(limit.equals("jobs") ? Jobs.class : ReactiveJobs.class)) {
            Counter runs = context.getBean(Counter.class);
            String rejection = "RateLimitExceededException: Rate limit '" + limit + "' exceeded";
            await().until(() -> output.getOut().contains(rejection));
            assertThat(output.getOut().lines().filter(line -> line.contains("Unexpected error occurred in scheduled")))
                    .isNotEmpty()
                    .allMatch(line -> line.contains(" " + level + " "));
            assertThat(output.getOut()).doesNotContain("\tat ");
            assertThat(runs.get()).isOne();
            context.getBean(RateLimiterRegistry.class).get(limit).allCallers().reset();
            await().until(() -> runs.get() == 2);
        }
    }

    @Test
    void fallbackMethodSkipsTheRunWithoutALine(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(SkippedJobs.class)) {
            await().until(() -> context.getBean(SkippedJobs.class).skipped().get() >= 2);
            assertThat(context.getBean(Counter.class)).hasValue(1);
        }
        assertThat(output.getOut()).doesNotContain("RateLimitExceededException", " ERROR ", " WARN ");
    }

    private static ConfigurableApplicationContext start(Class<?> jobs) {
        return new SpringApplicationBuilder(Application.class, jobs)
                .web(WebApplicationType.NONE)
                .run("--spring.main.banner-mode=off", "--ratelimit.store=in-memory");
    }

    static class Counter extends AtomicInteger {

        private static final long serialVersionUID = 1L;
    }

    static class Jobs {

        private final Counter runs;

        Jobs(Counter runs) {
            this.runs = runs;
        }

        @Scheduled(fixedDelay = 100)
        @RateLimited(name = "jobs", rate = "1/h")
        public void run() {
            runs.incrementAndGet();
        }
    }

    static class ReactiveJobs {

        private final Counter runs;

        ReactiveJobs(Counter runs) {
            this.runs = runs;
        }

        @Scheduled(fixedDelay = 100)
        @RateLimited(name = "reactive-jobs", rate = "1/h")
        public Mono<Integer> run() {
            return Mono.fromCallable(runs::incrementAndGet);
        }
    }

    static class SkippedJobs {

        private final AtomicInteger skipped = new AtomicInteger();

        private final Counter runs;

        SkippedJobs(Counter runs) {
            this.runs = runs;
        }

        @Scheduled(fixedDelay = 100)
        @RateLimited(name = "skipped-jobs", rate = "1/h", fallbackMethod = "skip")
        public void run() {
            runs.incrementAndGet();
        }

        public AtomicInteger skipped() {
            return skipped;
        }

        public void skip() {
            skipped.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableScheduling
    static class Application {

        @Bean
        StoppedClock clock() {
            return new StoppedClock();
        }

        @Bean
        Counter runs() {
            return new Counter();
        }
    }
}
