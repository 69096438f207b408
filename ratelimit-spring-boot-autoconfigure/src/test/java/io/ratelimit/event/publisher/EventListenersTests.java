package io.ratelimit.event.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.event.RateLimitRejectedEvent;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;

class EventListenersTests {

    @ParameterizedTest
    @ValueSource(classes = {OfMethod.class, OfOneOfTwo.class, OfBean.class, OfLazyBean.class})
    void findsListenersOfTheType(Class<?> bean) {
        try (var context = new AnnotationConfigApplicationContext(bean)) {
            assertThat(EventListeners.exist(context, RateLimitRejectedEvent.class))
                    .isTrue();
            assertThat(EventListeners.exist(context, RateLimitStoreFailureEvent.class))
                    .isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OfEverything.class, OfEverySpringEvent.class, OfAnother.class})
    void listenersOfAllEventsOrOthersAreNone(Class<?> bean) {
        try (var context = new AnnotationConfigApplicationContext(bean)) {
            assertThat(EventListeners.exist(context, RateLimitRejectedEvent.class))
                    .isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {OfMethod.class, OfBean.class})
    void findsListenersOfTheParent(Class<?> bean) {
        try (var parent = new AnnotationConfigApplicationContext(bean);
                var child = new AnnotationConfigApplicationContext()) {
            child.setParent(parent);
            child.refresh();
            assertThat(EventListeners.exist(child, RateLimitRejectedEvent.class))
                    .isTrue();
        }
    }

    static class OfMethod {

        @EventListener
        void on(RateLimitRejectedEvent event) {}
    }

    static class OfOneOfTwo {

        @EventListener({RateLimitRejectedEvent.class, ContextRefreshedEvent.class})
        void on() {}
    }

    static class OfBean implements ApplicationListener<PayloadApplicationEvent<RateLimitRejectedEvent>> {

        @Override
        public void onApplicationEvent(PayloadApplicationEvent<RateLimitRejectedEvent> event) {}
    }

    @Lazy
    static class OfLazyBean extends OfBean {}

    static class OfEverything {

        @EventListener
        void on(Object event) {}
    }

    static class OfEverySpringEvent implements ApplicationListener<ApplicationEvent> {

        @Override
        public void onApplicationEvent(ApplicationEvent event) {}
    }

    static class OfAnother implements ApplicationListener<ContextRefreshedEvent> {

        @Override
        public void onApplicationEvent(ContextRefreshedEvent event) {}
    }
}
