package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.aop.ContextPropagatingExecutor;
import io.ratelimit.aop.CreatedBeans;
import io.ratelimit.aop.EventLoopHandlers;
import io.ratelimit.aop.LimitedBeans;
import io.ratelimit.aop.LimitedMethodFactory;
import io.ratelimit.aop.LimitedMethodResolver;
import io.ratelimit.aop.PointcutCatalog;
import io.ratelimit.aop.ProcessedMethods;
import io.ratelimit.aop.RateLimitAdvicePlacer;
import io.ratelimit.aop.RateLimitBeanPostProcessor;
import io.ratelimit.aop.RateLimitInterceptor;
import io.ratelimit.aop.ReturnTypeStrategySelector;
import io.ratelimit.autoconfigure.redis.RedisServerNames;
import io.ratelimit.autoconfigure.redis.RedisServerProperties;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.internal.limiter.CompositeRateLimitListener;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.web.RequestRuleMapping;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
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

    private static final String URL_RULES = "ratelimit.http";

    private static final String REACTOR = "reactor.core.publisher.Mono";

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CreatedBeans rateLimitCreatedBeans() {
        return new CreatedBeans();
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
        return new RateLimitInterceptor(methods, SingletonSupplier.of(gate::getObject)::obtain);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitBeanPostProcessor rateLimitBeanPostProcessor(
            LimitedMethodResolver methods, RateLimitInterceptor interceptor, Environment environment) {
        int order = AdviceOrder.of(
                Binder.get(environment).bind("ratelimit.order", String.class).orElse(AdviceOrder.BEFORE_SECURITY));
        RateLimitBeanPostProcessor processor = new RateLimitBeanPostProcessor(methods, interceptor, order);
        processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        return processor;
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
            ObjectProvider<TaskDecorator> decorators) {
        boolean reactor = ClassUtils.isPresent(REACTOR, getClass().getClassLoader());
        RequestCall.Source ofThread = requests.getIfAvailable(() -> RequestCall.Source.NONE);
        ReturnTypeStrategySelector strategies = new ReturnTypeStrategySelector(
                ofThread,
                reactor ? reactiveRequests.getIfAvailable(() -> ReactiveRequestCallSource.NONE) : null,
                new ContextPropagatingExecutor(
                        executor::execute, task -> ofThread.carriedBy(decorated(task, decorators))));
        return new LimitedMethodFactory(catalog, beans, strategies);
    }

    @Bean
    CallExecutor rateLimitCallExecutor(@Qualifier(CallExecutor.BEAN_NAME) ObjectProvider<Executor> executor) {
        return new CallExecutor(executor);
    }

    /** Decorates a task as for {@code @Async} methods, or without such decorators by Micrometer's context propagation. */
    private static Runnable decorated(Runnable task, ObjectProvider<TaskDecorator> decorators) {
        List<TaskDecorator> beans = decorators.orderedStream().toList();
        if (beans.isEmpty() && ClassUtils.isPresent(CONTEXT_PROPAGATION, AdviceConfiguration.class.getClassLoader())) {
            return new ContextPropagatingTaskDecorator().decorate(task);
        }
        Runnable decorated = task;
        for (TaskDecorator decorator : beans) {
            decorated = decorator.decorate(decorated);
        }
        return decorated;
    }

    @Bean
    LimitedBeans rateLimitedBeans(
            ConfigurableListableBeanFactory beans,
            CreatedBeans created,
            LimitedMethodResolver methods,
            RateLimitBeanPostProcessor processor,
            LimitCatalog catalog,
            ObjectProvider<RateLimitGate> gate,
            ObjectProvider<ProcessedMethods> processed) {
        EventLoopHandlers handlers = new EventLoopHandlers(
                () -> WebFluxThreads.areEventLoops(beans), SingletonSupplier.of(gate::getObject)::obtain);
        return new LimitedBeans(
                beans, created, methods, processor, handlers, catalog, processed.getIfAvailable(ProcessedMethods::of));
    }

    @Bean
    RateLimitStartup rateLimitStartup(
            LimitedBeans limitedBeans,
            LimitCatalog catalog,
            ObjectProvider<CatalogRateLimiterRegistry> registry,
            CompositeRateLimitListener listeners,
            RateLimitProperties properties,
            ObjectProvider<RequestRuleMapping> requestRules,
            ObjectProvider<RedisServers> servers,
            Environment environment,
            ListableBeanFactory beans) {
        LimiterConfiguration.declareBeans(beans, catalog);
        return new RateLimitStartup(
                limitedBeans,
                catalog,
                registry.getIfAvailable(),
                listeners,
                () -> startRequestRules(properties, requestRules, catalog),
                describeStore(beans, servers),
                StoreConfiguration.kind(beans).equals(StoreConfiguration.CUSTOM)
                        ? null
                        : new RedisServerNames(RedisServerProperties.names(environment)),
                () -> servers.ifAvailable(RedisServers::await));
    }

    /** Describes the store for the log. Empty for a store of the application or of a parent context. */
    private static Optional<String> describeStore(ListableBeanFactory beans, ObjectProvider<RedisServers> servers) {
        if (!beans.containsBeanDefinition(StoreConfiguration.DEFAULT_STORE)) {
            return Optional.empty();
        }
        return Optional.of(
                StoreConfiguration.kind(beans).equals(StoreConfiguration.IN_MEMORY)
                        ? "Rate limits are counted in memory, by each instance on its own"
                        : servers.getObject().describe());
    }

    /**
     * Starts the URL rules, and returns the requests of each limit, by the limit's name, and what each is charged.
     *
     * @throws RateLimitConfigurationException if there are rules, but this is not a web application
     */
    private static Map<String, Map<String, ChargeDescription>> startRequestRules(
            RateLimitProperties properties, ObjectProvider<RequestRuleMapping> requestRules, LimitCatalog catalog) {
        RequestRuleMapping rules = requestRules.getIfAvailable();
        if (rules != null) {
            catalog.setApplied(URL_RULES);
        } else if (!properties.http().isEmpty() && !catalog.mayBeAppliedElsewhere(URL_RULES)) {
            List<String> paths = properties.http().stream()
                    .map(RateLimitProperties.Http::path)
                    .toList();
            throw AotDetector.useGeneratedArtifacts()
                    ? new RateLimitConfigurationException(
                            "ratelimit.http must be empty if it was when AOT processing chose the beans (was " + paths
                                    + ").",
                            "Set it in the properties with which the web application is built.")
                    : new RateLimitConfigurationException(
                            "ratelimit.http must be empty in an application without Spring MVC and WebFlux (was "
                                    + paths + ").",
                            "Remove it, or add spring-boot-starter-webmvc or spring-boot-starter-webflux.");
        }
        return rules == null ? Map.of() : rules.start();
    }
}
