package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.diagnostics.AlgorithmCheck;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.event.publisher.RateLimitEventPublisher;
import io.ratelimit.internal.change.BucketMessages;
import io.ratelimit.internal.change.BucketUpdater;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.change.ChangeListener;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.CallObserver;
import io.ratelimit.internal.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.internal.limiter.CompositeCallObserver;
import io.ratelimit.internal.limiter.CompositeRateLimitListener;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.PlanCacheManager;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.reactor.EventLoops;
import io.ratelimit.spi.RateLimitCustomizer;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Configures the limits, and the limiters that call the store. */
@Configuration(proxyBeanMethods = false)
class LimiterConfiguration {

    @Bean
    AlgorithmCatalog rateLimitAlgorithms(ListableBeanFactory beans) {
        AlgorithmCatalog algorithms =
                AlgorithmCatalog.of(BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, RateLimitAlgorithm.class));
        AlgorithmCheck.inMemory(algorithms);
        return algorithms;
    }

    @Bean(RateLimitAutoConfiguration.CATALOG)
    LimitCatalog rateLimitCatalog(
            RateLimitProperties properties,
            AlgorithmCatalog algorithms,
            ObjectProvider<RateLimitCustomizer> customizers,
            ApplicationContext context) {
        ApplicationContext parent = context.getParent();
        return new LimitCatalog(
                settings(properties, algorithms, customizers),
                parent == null
                        ? null
                        : parent.getBeanProvider(LimitCatalog.class).getIfAvailable(),
                () -> PartialContext.isPartial(context));
    }

    /**
     * Returns the settings of limits, with the algorithms and customizers of the application.
     *
     * @param customizers injected: those of a bean factory include the targets of scoped proxies
     */
    static RateLimitSettings settings(
            RateLimitProperties properties,
            AlgorithmCatalog algorithms,
            ObjectProvider<RateLimitCustomizer> customizers) {
        return properties
                .settings()
                .with(algorithms, customizers.orderedStream().toList());
    }

    @Bean
    PlanCacheManager rateLimitPlanCaches(RateLimitProperties properties) {
        RateLimitProperties.Plans plans = properties.plans();
        return new PlanCacheManager(plans.cache(), plans.timeout());
    }

    @Bean
    CompositeRateLimitListener rateLimitListeners(ObjectProvider<List<RateLimitListener>> listeners) {
        // A stream would contain this bean itself if there is no other listener.
        return new CompositeRateLimitListener(listeners.getIfAvailable(List::of));
    }

    @Bean
    RateLimitEventPublisher rateLimitEventPublisher(
            ApplicationContext context, ObjectProvider<CompositeRateLimitListener> listeners) {
        return new RateLimitEventPublisher(
                context, listener -> listeners.getObject().add(listener));
    }

    @Bean
    RateLimitLifecycle.Part rateLimitEventPart(RateLimitEventPublisher events) {
        return new RateLimitLifecycle.Part(RateLimitLifecycle.Stage.EVENTS, events::start, events::stop);
    }

    /** Of this context alone: a child context has parts of its own. */
    @Bean
    RateLimitLifecycle rateLimitLifecycle(ListableBeanFactory beans) {
        return new RateLimitLifecycle(
                beans.getBeansOfType(RateLimitLifecycle.Part.class).values());
    }

    @Bean
    ChangeListener rateLimitChangeEvents(RateLimitEventPublisher events) {
        return events::publish;
    }

    @Bean
    @ConditionalOnMissingBean
    Waiter rateLimitWaiter() {
        return Waiter.parking();
    }

    @Bean
    RateLimitGate rateLimitGate(
            RateLimitStore store,
            LimitCatalog catalog,
            CompositeRateLimitListener listeners,
            ObjectProvider<CallObserver> observers,
            Waiter waiter,
            RateLimitProperties properties,
            ObjectProvider<RedisServers> servers,
            ObjectProvider<ChangeChannel> channel,
            ObjectProvider<BucketUpdater> buckets,
            ApplicationContext context) {
        // The store needs at most two timeouts.
        RedisServers redis = servers.getIfAvailable();
        Duration timeout = redis == null ? properties.redis().timeout() : redis.longestTimeout();
        RateLimitGate parent = ofParent(context, store);
        RateLimitGate gate = new RateLimitGate(
                store,
                listeners,
                CompositeCallObserver.of(observers.orderedStream().toList()),
                waiter,
                EventLoops::isCurrentThread,
                timeout.multipliedBy(3),
                parent);
        // The calls of a child wait in the queues of its parent, which are told of these and of the parent's limits.
        if (parent == null) {
            channel.ifAvailable(
                    messages -> new BucketMessages(messages, BucketMessages.RELEASED).subscribe(gate::permitsReleased));
            buckets.ifAvailable(changes -> changes.addListener(gate::permitsReleased));
        }
        catalog.addListener(limit -> gate.follow(limit, catalog));
        return gate;
    }

    private static @Nullable RateLimitGate ofParent(ApplicationContext context, RateLimitStore store) {
        ApplicationContext parent = context.getParent();
        return parent != null && parent.getBeanProvider(RateLimitStore.class).getIfAvailable() == store
                ? parent.getBeanProvider(RateLimitGate.class).getIfAvailable()
                : null;
    }

    @Bean
    @ConditionalOnMissingBean(value = RateLimiterRegistry.class, search = SearchStrategy.CURRENT)
    CatalogRateLimiterRegistry rateLimitRegistry(LimitCatalog catalog, RateLimitGate gate, ListableBeanFactory beans) {
        declareBeans(beans, catalog);
        return new CatalogRateLimiterRegistry(catalog, gate);
    }

    static void declareBeans(ListableBeanFactory beans, LimitCatalog catalog) {
        beans.getBeansOfType(RateLimit.class)
                .forEach((name, limit) -> catalog.declare(limit, "the RateLimit bean '" + name + "'"));
    }
}
