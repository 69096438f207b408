package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.batch.infrastructure.item.ItemStream;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.config.ScheduledTaskRegistrar;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;

/** Which methods the annotation of a type covers. */
class AnnotatedTypeTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    /** Its users see the bean that it creates. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void annotatedFactoryOfABeanStopsTheStartUp(boolean lazy) {
        runner.withBean(AnnotatedFactory.class, AnnotatedFactory::new, definition -> definition.setLazyInit(lazy))
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + AnnotatedFactory.class.getName())
                            .contains("and covers no method of " + AnnotatedFactory.class.getName());
                    assertThat(analysis.getAction()).startsWith("Annotate the method of the bean's class");
                });
    }

    @Test
    void annotatedFactoryWithAMethodOfItsOwnStarts() {
        runner.withBean("factory", CalledFactory.class).run(context -> {
            CalledFactory factory = context.getBean("&factory", CalledFactory.class);
            factory.call();
            assertRejected("called-factory", factory::call);
        });
    }

    @Test
    void annotatedTypeLeavesOutWhatSpringCallsAsABeanBeginsOrEnds() {
        runner.withUserConfiguration(AnnotatedConfiguration.class).run(context -> {
            AnnotatedConfiguration limited = context.getBean(AnnotatedConfiguration.class);
            limited.call();
            assertRejected("annotated-configuration", limited::call);
        });
    }

    /** Otherwise the start-up would pay for them, and fail. */
    @Test
    void annotatedTypeLeavesOutWhatTheContextCallsAsItStartsOrPublishesAnEvent() {
        runner.withBean(AnnotatedLifecycle.class)
                .withBean(AnnotatedListener.class)
                .run(context -> {
                    AnnotatedLifecycle limited = context.getBean(AnnotatedLifecycle.class);
                    assertThat(limited.isRunning()).isTrue();
                    limited.poll();
                    assertRejected("annotated-lifecycle", limited::poll);
                    AnnotatedListener listener = context.getBean(AnnotatedListener.class);
                    context.publishEvent("handled");
                    assertRejected(
                            "annotated-listener",
                            () -> listener.onApplicationEvent(new PayloadApplicationEvent<>(context, "rejected")));
                });
    }

    @Test
    void annotatedTypeLeavesOutWhatRegistersTheBeanAtTheStartUp() {
        runner.withBean(AnnotatedRegistration.class).run(context -> {
            AnnotatedRegistration limited = context.getBean(AnnotatedRegistration.class);
            limited.configureTasks(new ScheduledTaskRegistrar());
            limited.bindTo(new SimpleMeterRegistry());
            limited.poll();
            assertRejected("annotated-registration", limited::poll);
        });
    }

    /** Otherwise a step that opens and closes it would take permits of its items. */
    @Test
    void annotatedTypeLeavesOutWhatABatchStepCallsAsItBeginsOrEnds() {
        runner.withBean(AnnotatedWriter.class).run(context -> {
            AnnotatedWriter limited = context.getBean(AnnotatedWriter.class);
            limited.close();
            limited.write();
            assertRejected("annotated-writer", limited::write);
        });
    }

    @Test
    void methodThatOverloadsOneOfTheContextIsLimited() {
        runner.withBean(Jobs.class).run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            jobs.stop("import");
            assertRejected("jobs", () -> jobs.stop("import"));
        });
    }

    /** Otherwise a request would pay for each of them. */
    @Test
    void annotatedControllerLimitsTheMethodsThatHandleRequestsAlone() {
        runner.withBean(AnnotatedController.class).run(context -> {
            AnnotatedController limited = context.getBean(AnnotatedController.class);
            limited.handle();
            limited.handleWithModel();
            limited.model();
            limited.bind();
            limited.failed();
            assertRejected("annotated-controller", limited::handle);
            assertRejected("annotated-controller", limited::handleWithModel);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"HasHandlersOfExceptionsAlone", "HasNoPublicMethod", "CreatesBeansAlone"})
    void annotatedTypeWithoutAMethodToLimitStopsTheStartUp(String type) {
        runner.withUserConfiguration(nested(type)).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + nested(type).getName())
                    .contains("must cover a public method")
                    .contains("covers no method of " + nested(type).getName());
            assertThat(analysis.getAction()).contains("Annotate the methods themselves, make them public");
        });
    }

    @Test
    void annotationThatABeanInheritsAndThatCoversNoMethodStopsTheStartUpAtItsPlace() {
        runner.withBean(HasAMarker.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + Marker.class.getName())
                        .contains("covers no method of " + HasAMarker.class.getName()));
    }

    @Test
    void annotatedTypeWhoseMethodsAllHaveAnnotationsOfTheirOwnStarts() {
        runner.withBean(AllAnnotated.class).run(context -> {
            context.getBean(AllAnnotated.class).call();
            assertRejected("own", context.getBean(AllAnnotated.class)::call);
        });
    }

    private static Class<?> nested(String name) {
        return Arrays.stream(AnnotatedTypeTests.class.getDeclaredClasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @RateLimited(rate = "1/h")
    static class AnnotatedFactory implements FactoryBean<String> {

        @Override
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    @RateLimited(name = "called-factory", rate = "1/h")
    static class CalledFactory extends AnnotatedFactory {

        public void call() {}
    }

    @Configuration
    @RateLimited(rate = "1/h")
    static class AnnotatedConfiguration implements InitializingBean, EnvironmentAware {

        public void call() {}

        @Autowired
        public void wire(Environment environment) {}

        @Override
        public void setEnvironment(Environment environment) {}

        @Override
        public void afterPropertiesSet() {}

        @Bean
        public Locale locale() {
            return Locale.ROOT;
        }
    }

    @RateLimited(name = "annotated-lifecycle", rate = "1/h")
    static class AnnotatedLifecycle implements SmartLifecycle {

        private boolean running;

        public void poll() {}

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    @RateLimited(name = "annotated-registration", rate = "1/h")
    static class AnnotatedRegistration implements SmartInitializingSingleton, SchedulingConfigurer, MeterBinder {

        public void poll() {}

        @Override
        public void afterSingletonsInstantiated() {}

        @Override
        public void configureTasks(ScheduledTaskRegistrar tasks) {}

        @Override
        public void bindTo(MeterRegistry meters) {}
    }

    @RateLimited(name = "annotated-writer", rate = "1/h")
    static class AnnotatedWriter implements ItemStream {

        public void write() {}

        @Override
        public void close() {}
    }

    static class Jobs extends AnnotatedLifecycle {

        @RateLimited(name = "jobs", rate = "1/h")
        public void stop(String job) {}
    }

    @RateLimited(name = "annotated-listener", rate = "1/h")
    static class AnnotatedListener implements SmartApplicationListener {

        @Override
        public boolean supportsEventType(Class<? extends ApplicationEvent> type) {
            return type == PayloadApplicationEvent.class;
        }

        @Override
        public void onApplicationEvent(ApplicationEvent event) {}
    }

    @RateLimited(capacity = 2, rate = "2/h")
    static class AnnotatedController {

        @GetMapping
        public void handle() {}

        @GetMapping
        @ModelAttribute
        public void handleWithModel() {}

        @ModelAttribute
        public void model() {}

        @InitBinder
        public void bind() {}

        @ExceptionHandler
        public void failed() {}
    }

    @RateLimited(rate = "1/h")
    static class HasHandlersOfExceptionsAlone {

        @ModelAttribute
        public void model() {}

        @InitBinder
        public void bind() {}

        @ExceptionHandler
        public void failed() {}
    }

    @RateLimited(rate = "1/h")
    static class HasNoPublicMethod {

        void call() {}
    }

    @Configuration
    @RateLimited(rate = "1/h")
    static class CreatesBeansAlone {

        @Bean
        public Locale locale() {
            return Locale.ROOT;
        }
    }

    @RateLimited(rate = "1/h")
    interface Marker {}

    static class HasAMarker implements Marker {

        public void call() {}
    }

    @RateLimited(rate = "1/h")
    static class AllAnnotated {

        @RateLimited(name = "own", rate = "1/h")
        public void call() {}
    }
}
