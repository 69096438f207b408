package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Other post-processors that come last, too. */
class PostProcessorOrderTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Service.class);

    @Test
    void listenersOfMessagesAreGivenTheLimitedBean() {
        runner.withBean(ListenerRegistrar.class).run(context -> {
            Service listener = context.getBean(ListenerRegistrar.class).listener;
            listener.listen();
            assertRejected("service-listen", listener::listen);
        });
    }

    @Test
    void adviceOfALaterPostProcessorStillComesAfterTheLimit() {
        runner.withConfiguration(AutoConfigurations.of(LateAsync.class)).run(context -> {
            Service service = context.getBean(Service.class);
            assertThat(service.asynchronous().get()).isNotSameAs(Thread.currentThread());
            assertRejected("service-asynchronous", service.asynchronous());
        });
    }

    static class Service {

        @RateLimited(rate = "1/s")
        public void listen() {}

        @RateLimited(rate = "1/s")
        @Async
        public Future<Thread> asynchronous() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    /** Remembers the bean as it is when its turn comes, as those for Kafka's and Rabbit's listeners do. */
    static class ListenerRegistrar implements BeanPostProcessor, Ordered {

        private Service listener;

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (bean instanceof Service service) {
                listener = service;
            }
            return bean;
        }

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }
    }

    @AutoConfiguration(after = RateLimitAutoConfiguration.class)
    @EnableAsync(proxyTargetClass = true)
    static class LateAsync {

        @Bean
        Executor taskExecutor() {
            return task -> new Thread(task).start();
        }
    }
}
