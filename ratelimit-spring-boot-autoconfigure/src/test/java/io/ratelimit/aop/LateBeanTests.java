package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.testing.LogRecorder;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.TriggerBuilder;
import org.quartz.spi.OperableTrigger;
import org.quartz.spi.TriggerFiredBundle;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.scheduling.quartz.JobDetailFactoryBean;
import org.springframework.scheduling.quartz.SpringBeanJobFactory;
import org.springframework.web.context.annotation.RequestScope;

/** Limits of objects that do not exist when the application has started. */
class LateBeanTests {

    private static final AtomicInteger CREATED = new AtomicInteger();

    private final WebApplicationContextRunner runner =
            LimitedContexts.inMemoryServlet().withPropertyValues("ratelimit.limits.late.capacity=2");

    @BeforeEach
    void reset() {
        CREATED.set(0);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                LazyBean.class,
                PrototypeBean.class,
                RequestBean.class,
                UnproxiedRequestBean.class,
                JobBean.class,
                PlainJob.class,
                FactoryMadeJob.class,
                LazyJob.class
            })
    void limitIsKnownBeforeItIsCreated(Class<?> configuration) {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            runner.withUserConfiguration(configuration).run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(LimitCatalog.class).find("late"))
                        .map(RateLimit::capacity)
                        .hasValue(2L);
                assertThat(CREATED).hasValue(0);
                assertThat(log.text()).contains("'late'", "run(");
            });
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {PlainJob.class, FactoryMadeJob.class, LazyJob.class, JobBean.class})
    void jobIsLimitedOverAllItsRuns(Class<?> configuration) {
        runner.withUserConfiguration(configuration).run(context -> {
            run(context);
            run(context);
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> run(context));
            assertThat(CREATED).hasValueGreaterThanOrEqualTo(3);
        });
    }

    /** Of a bean that does not exist, an interface is all that is known. */
    @Test
    void annotationThatTheStartUpCannotFindTakesTheLimitOver() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            LimitedContexts.inMemory()
                    .withUserConfiguration(LazyInterface.class)
                    .withPropertyValues("ratelimit.limits.hidden.rate=2/h")
                    .run(context -> {
                        assertThat(context.getBean(LimitCatalog.class).find("hidden"))
                                .map(RateLimit::capacity)
                                .hasValue(2L);
                        Hidden hidden = context.getBean(Hidden.class);
                        hidden.run("a");
                        assertThatExceptionOfType(RateLimitExceededException.class)
                                .isThrownBy(() -> hidden.run("a"));
                        hidden.run("b");
                        assertThat(context.getBean(LimitCatalog.class).find("hidden"))
                                .hasValueSatisfying(limit ->
                                        assertThat(limit.toString()).isEqualTo("TOKEN_BUCKET, capacity 1 at 2/h"));
                    });
            assertThat(log.text())
                    .contains("WARNING Rate limit 'hidden' is declared by " + HiddenImplementation.class.getName()
                            + ".run(String), which the start-up did not find;");
        }
    }

    interface Hidden {

        void run(String key);
    }

    static class HiddenImplementation implements Hidden {

        @Override
        @RateLimited(name = "hidden", rate = "1/h", capacity = 1, keyExpression = "#key")
        public void run(String key) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyInterface {

        @Bean
        @Lazy
        Hidden hidden() {
            return new HiddenImplementation();
        }
    }

    /** The list of a scheduler's jobs is no JobDetail bean. */
    @Test
    void wayOutIsSaidIfAJobIsNotFound() {
        runner.withUserConfiguration(ListedJob.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOfSatisfying(
                                RateLimitConfigurationException.class,
                                failure -> assertThat(failure.getFix())
                                        .contains("such as a Quartz job, declares one as a prototype bean")));
        runner.withUserConfiguration(ListedJob.class, PrototypeBean.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void withoutQuartzTheStartUpLooksForNoJobs() {
        runner.withClassLoader(new FilteredClassLoader("org.quartz"))
                .withUserConfiguration(LazyOtherBean.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** As a scheduler does. */
    private static void run(ApplicationContext context) throws Exception {
        JobDetail detail = context.getBean(JobDetail.class);
        SpringBeanJobFactory factory = new SpringBeanJobFactory();
        factory.setApplicationContext(context);
        OperableTrigger trigger =
                (OperableTrigger) TriggerBuilder.newTrigger().forJob(detail).build();
        factory.newJob(new TriggerFiredBundle(detail, trigger, null, false, null, null, null, null), null)
                .execute(null);
    }

    static class Late implements Job {

        Late() {
            CREATED.incrementAndGet();
        }

        @RateLimited(name = "late", rate = "10/h")
        public void run() {}

        @Override
        @RateLimited(name = "late", rate = "10/h")
        public void execute(JobExecutionContext context) {}
    }

    private static JobDetail detail() {
        return JobBuilder.newJob(Late.class).storeDurably().build();
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyBean {

        @Bean
        @Lazy
        Late late() {
            return new Late();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyOtherBean {

        static class Other {

            @RateLimited(name = "late", rate = "10/h")
            public void run() {}
        }

        @Bean
        @Lazy
        Other late() {
            return new Other();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrototypeBean {

        @Bean
        @Scope("prototype")
        Late late() {
            return new Late();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RequestBean {

        @Bean
        @RequestScope
        Late late() {
            return new Late();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class UnproxiedRequestBean {

        @Bean
        @Scope("request")
        Late late() {
            return new Late();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class JobBean {

        @Bean
        @Scope("prototype")
        Late late() {
            return new Late();
        }

        @Bean
        JobDetail job() {
            return detail();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PlainJob {

        @Bean
        JobDetail job() {
            return detail();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryMadeJob {

        @Bean
        JobDetailFactoryBean job() {
            JobDetailFactoryBean job = new JobDetailFactoryBean();
            job.setJobClass(Late.class);
            job.setDurability(true);
            return job;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ListedJob {

        @Bean
        List<JobDetail> jobs() {
            return List.of(detail());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyJob {

        @Bean
        @Lazy
        JobDetail job() {
            return detail();
        }
    }
}
