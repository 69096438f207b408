package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.aop.CallExecutor;
import io.ratelimit.aop.CreatedBeans;
import io.ratelimit.aop.LimitedBeans;
import io.ratelimit.aop.LimitedMethodFactory;
import io.ratelimit.aop.LimitedMethodResolver;
import io.ratelimit.aop.PointcutCatalog;
import io.ratelimit.aop.ProcessedMethods;
import io.ratelimit.aop.RateLimitAdvicePlacer;
import io.ratelimit.aop.RateLimitBeanPostProcessor;
import io.ratelimit.aop.RateLimitInterceptor;
import io.ratelimit.aop.ReturnTypeStrategySelector;
import io.ratelimit.autoconfigure.properties.AdviceOrder;
import io.ratelimit.autoconfigure.properties.Pointcuts;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.RateLimitExpressionParser;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.CompositeRateLimitListener;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.List;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.CompositeTaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Configures the advice. Its beans are created before all others, so they look other beans up when the first limited method
 * is found or called. Otherwise they would create those beans too early.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class AdviceConfiguration {

    private static final String CONTEXT_PROPAGATION = "io.micrometer.context.ContextSnapshotFactory";

    private static final String SECURITY = "org.springframework.security.concurrent.DelegatingSecurityContextRunnable";

    private static final String REACTOR = "reactor.core.publisher.Mono";

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CreatedBeans rateLimitCreatedBeans() {
        return new CreatedBeans("rateLimitedMethodFactory", "rateLimitPlanCaches");
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LimitedMethodResolver rateLimitedMethods(
            ObjectProvider<LimitedMethodFactory> factory, Environment environment, ListableBeanFactory beans) {
        return new LimitedMethodResolver(
                SingletonSupplier.of(factory::getObject)::obtain,
                new PointcutCatalog(Pointcuts.of(environment), beans, AdviceConfiguration::modules));
    }

    /** Returns a class of each module behind the starter. Not a constant: without pointcuts, no class of Redis is loaded. */
    private static List<Class<?>> modules() {
        return List.of(RateLimit.class, RateLimitScriptExecutor.class, AdviceConfiguration.class);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitInterceptor rateLimitMethodInterceptor(
            LimitedMethodResolver methods, ObjectProvider<RateLimitGate> gate) {
        return new RateLimitInterceptor(methods, SingletonSupplier.of(gate::getObject)::obtain, null, null);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitBeanPostProcessor rateLimitBeanPostProcessor(
            LimitedMethodResolver methods, RateLimitInterceptor interceptor, Environment environment) {
        RateLimitBeanPostProcessor processor = new RateLimitBeanPostProcessor(methods, interceptor, order(environment));
        processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        return processor;
    }

    private static int order(Environment environment) {
        return AdviceOrder.of(
                Binder.get(environment).bind("ratelimit.order", String.class).orElse(AdviceOrder.BEFORE_SECURITY));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitAdvicePlacer rateLimitAdvicePlacer(RateLimitBeanPostProcessor processor) {
        return new RateLimitAdvicePlacer(processor);
    }

    @Bean
    LimitedMethodFactory rateLimitedMethodFactory(
            LimitCatalog catalog,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<RequestCall.Source> requests,
            ObjectProvider<ReactiveRequestCallSource> reactiveRequests,
            CallExecutor executor,
            Environment environment) {
        boolean reactor = ClassUtils.isPresent(REACTOR, getClass().getClassLoader());
        ReturnTypeStrategySelector strategies = new ReturnTypeStrategySelector(
                requests.getIfAvailable(() -> RequestCall.Source.NONE),
                reactor ? reactiveRequests.getIfAvailable(() -> ReactiveRequestCallSource.NONE) : null,
                executor);
        boolean security = ClassUtils.isPresent(SECURITY, beans.getBeanClassLoader());
        return new LimitedMethodFactory(
                new LimitOperations(catalog, new RateLimitExpressionParser(beans, strategies::facts)),
                beans,
                strategies,
                security && AdviceOrder.isBeforeSecurity(order(environment)));
    }

    @Bean
    CallExecutor rateLimitCallExecutor(
            @Qualifier(CallExecutor.BEAN_NAME) ObjectProvider<Executor> executor,
            ObjectProvider<RequestCall.Source> requests,
            ObjectProvider<TaskDecorator> decorators) {
        List<RequestCall.Source> ofThread = requests.orderedStream().toList();
        // Authorization behind the limit finds the caller also without decorators and context propagation.
        boolean security = ClassUtils.isPresent(SECURITY, getClass().getClassLoader());
        return new CallExecutor(executor::getIfAvailable, task -> {
            Runnable carried = decorator(decorators).decorate(task);
            for (RequestCall.Source each : ofThread) {
                carried = each.carriedBy(carried);
            }
            return security ? new DelegatingSecurityContextRunnable(carried) : carried;
        });
    }

    /** Decorates tasks as for {@code @Async} methods, or without such decorators by Micrometer's context propagation. */
    private static TaskDecorator decorator(ObjectProvider<TaskDecorator> decorators) {
        List<TaskDecorator> beans = decorators.orderedStream().toList();
        return beans.isEmpty() && ClassUtils.isPresent(CONTEXT_PROPAGATION, AdviceConfiguration.class.getClassLoader())
                ? new ContextPropagatingTaskDecorator()
                : new CompositeTaskDecorator(beans);
    }

    @Bean
    LimitedBeans rateLimitedBeans(
            ConfigurableListableBeanFactory beans,
            CreatedBeans created,
            LimitedMethodResolver methods,
            RateLimitBeanPostProcessor processor,
            LimitCatalog catalog,
            ObjectProvider<ProcessedMethods> processed) {
        ProcessedMethods expected = processed.getIfAvailable(() -> ProcessedMethods.NONE);
        return new LimitedBeans(beans, created, methods, processor, catalog, expected);
    }

    @Bean
    RateLimitStartup rateLimitStartup(
            LimitedBeans limitedBeans,
            LimitCatalog catalog,
            CompositeRateLimitListener listeners,
            RateLimitProperties properties,
            ApplicationContext context) {
        return new RateLimitStartup(limitedBeans, catalog, listeners, properties, context);
    }
}
