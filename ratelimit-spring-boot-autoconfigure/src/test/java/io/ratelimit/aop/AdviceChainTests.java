package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.LongRunning;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

@LongRunning
class AdviceChainTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @ParameterizedTest
    @ValueSource(classes = {Transactions.class, InterfaceTransactions.class})
    void rejectedCallBeginsNoTransaction(Class<?> configuration) {
        runner.withUserConfiguration(configuration).withBean(Service.class).run(context -> {
            CountingTransactions transactions = context.getBean(CountingTransactions.class);
            Calls service = context.getBean(Calls.class);
            service.transactional();
            assertThat(transactions.begun()).isEqualTo(1);
            assertRejected("service-transactional", service::transactional);
            assertThat(transactions.begun()).isEqualTo(1);
        });
    }

    @Test
    void orderCanMoveTheLimitBehindTransactions() {
        runner.withUserConfiguration(EarlyTransactions.class)
                .withBean(Service.class)
                .withPropertyValues("ratelimit.order=1")
                .run(context -> {
                    CountingTransactions transactions = context.getBean(CountingTransactions.class);
                    Calls service = context.getBean(Calls.class);
                    service.transactional();
                    assertRejected("service-transactional", service::transactional);
                    assertThat(transactions.begun()).isEqualTo(2);
                });
    }

    @ParameterizedTest
    @CsvSource({"before-security,1", "after-security,0", "150,1", "1000,0"})
    void callerWhoIsDeniedIsChargedOnlyWhereTheLimitComesFirst(String order, int charged) {
        runner.withUserConfiguration(Transactions.class, MethodSecurity.class)
                .withBean(Service.class)
                .withPropertyValues("ratelimit.order=" + order)
                .run(context -> {
                    SecurityContextHolder.getContext()
                            .setAuthentication(new TestingAuthenticationToken("mallory", "", "ROLE_GUEST"));
                    try {
                        assertThatThrownBy(() -> context.getBean(Calls.class).secured())
                                .isInstanceOf(AccessDeniedException.class);
                        assertThat(context.getBean(RecordingListener.class).outcomes())
                                .hasSize(charged);
                        SecurityContextHolder.getContext()
                                .setAuthentication(new TestingAuthenticationToken("admin", "", "ROLE_ADMIN"));
                        Calls service = context.getBean(Calls.class);
                        if (charged == 0) {
                            service.secured();
                        }
                        assertRejected("service-secured", service::secured);
                        assertThat(context.getBean(CountingTransactions.class).begun())
                                .isEqualTo(1 - charged);
                    } finally {
                        SecurityContextHolder.clearContext();
                    }
                });
    }

    @Test
    void callIsRejectedEvenIfItsResultIsCached() {
        runner.withUserConfiguration(Caching.class).withBean(Service.class).run(context -> {
            Calls service = context.getBean(Calls.class);
            assertThat(service.cached()).isEqualTo(1);
            assertRejected("service-cached", service::cached);
        });
    }

    @Test
    void orderCanMoveTheLimitBehindTheCache() {
        runner.withUserConfiguration(EarlyCaching.class)
                .withBean(Service.class)
                .withPropertyValues("ratelimit.order=1")
                .run(context -> {
                    Calls service = context.getBean(Calls.class);
                    assertThat(service.cached()).isEqualTo(1);
                    assertThat(service.cached()).isEqualTo(1);
                });
    }

    @ParameterizedTest
    @ValueSource(classes = {Asynchronous.class, InterfaceAsynchronous.class})
    void rejectionOfAnAsynchronousCallReachesItsCaller(Class<?> configuration) {
        runner.withUserConfiguration(configuration).withBean(Service.class).run(context -> {
            Calls service = context.getBean(Calls.class);
            Thread executing = service.asynchronous(Thread.currentThread()).get();
            assertThat(executing).isNotSameAs(Thread.currentThread());
            assertRejected("service-asynchronous", service.asynchronous(Thread.currentThread()));
        });
    }

    /** Spring looks the call up in a thread-local variable, which is gone when the method is called later. */
    @ParameterizedTest
    @ValueSource(strings = {"before-security", "after-security", "2147483646"})
    void aspectIsCalledWithItsArgumentsThoughTheMethodIsCalledLater(String order) {
        HeldStore store = new HeldStore(new InMemoryRateLimitStore(TimeSource.monotonic(), 100));
        runner.withUserConfiguration(Aspects.class)
                .withBean(Audit.class)
                .withBean(RateLimitStore.class, () -> store)
                .withBean(AuditedService.class)
                .withPropertyValues("ratelimit.order=" + order)
                .run(context -> {
                    AuditedService service = context.getBean(AuditedService.class);
                    for (CompletableFuture<String> call :
                            List.of(service.future("f"), service.publisher("p").toFuture())) {
                        store.answerOn("store");
                        assertThat(call).succeedsWithin(Duration.ofMinutes(1));
                    }
                    assertThat(context.getBean(Audit.class).calls).containsExactlyInAnyOrder("future f", "publisher p");
                });
    }

    /** What an application's methods may be besides limited. */
    public interface Calls {

        void transactional();

        void secured();

        int cached();

        Future<Thread> asynchronous(Thread caller);
    }

    public static class Service implements Calls {

        private int calls;

        @Override
        @RateLimited(rate = "1/s")
        @Transactional
        public void transactional() {}

        @Override
        @RateLimited(rate = "1/s")
        @PreAuthorize("hasRole('ADMIN')")
        @Transactional
        public void secured() {}

        @Override
        @RateLimited(rate = "1/s")
        @Cacheable("calls")
        public int cached() {
            return ++calls;
        }

        /** The key is asked for in the caller's thread, too. */
        @Override
        @RateLimited(rate = "1/s", condition = "T(Thread).currentThread() == #caller")
        @Async
        public Future<Thread> asynchronous(Thread caller) {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(proxyTargetClass = true)
    static class Transactions {

        @Bean
        CountingTransactions transactions() {
            return new CountingTransactions();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class InterfaceTransactions {

        @Bean
        CountingTransactions transactions() {
            return new CountingTransactions();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class EarlyTransactions {

        @Bean
        CountingTransactions transactions() {
            return new CountingTransactions();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caching {

        @Bean
        CacheManager caches() {
            return new ConcurrentMapCacheManager("calls");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching(order = 0)
    static class EarlyCaching {

        @Bean
        CacheManager caches() {
            return new ConcurrentMapCacheManager("calls");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class Asynchronous {

        @Bean
        Executor taskExecutor() {
            return task -> new Thread(task).start();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class InterfaceAsynchronous {

        @Bean
        Executor taskExecutor() {
            return task -> new Thread(task).start();
        }
    }

    @Configuration
    @EnableMethodSecurity
    static class MethodSecurity {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface Audited {}

    @Configuration(proxyBeanMethods = false)
    @EnableAspectJAutoProxy
    static class Aspects {}

    @Aspect
    static class Audit {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        @Around("@annotation(audited) && args(argument)")
        Object audit(ProceedingJoinPoint call, Audited audited, String argument) throws Throwable {
            calls.add(call.getSignature().getName() + " " + argument);
            return call.proceed();
        }
    }

    static class AuditedService {

        @Audited
        @RateLimited(rate = "1/s")
        public CompletableFuture<String> future(String argument) {
            return CompletableFuture.completedFuture(argument);
        }

        @Audited
        @RateLimited(rate = "1/s")
        public Mono<String> publisher(String argument) {
            return Mono.just(argument);
        }
    }
}
