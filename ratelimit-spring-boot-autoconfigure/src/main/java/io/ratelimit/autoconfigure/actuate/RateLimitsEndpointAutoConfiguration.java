package io.ratelimit.autoconfigure.actuate;

import io.ratelimit.LimitAttributes;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.actuate.BucketDescriptor;
import io.ratelimit.actuate.EndpointProblems;
import io.ratelimit.actuate.LimitDescriptor;
import io.ratelimit.actuate.LimitDescriptor.Load;
import io.ratelimit.actuate.LimitDescriptor.Usage;
import io.ratelimit.actuate.RateLimitsDescriptor;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.actuate.StoreDescriptor;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.RateLimitStartup;
import io.ratelimit.autoconfigure.StoreConfiguration;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.statistics.InstanceCount;
import io.ratelimit.internal.statistics.RateLimitStatistics;
import io.ratelimit.spi.StoreHealth;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the endpoint {@code ratelimits}. */
@AutoConfiguration(after = {RateLimitAutoConfiguration.class, RateLimitStatisticsAutoConfiguration.class})
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
@RegisterReflectionForBinding({RateLimitsDescriptor.class, LimitDescriptor.class, BucketDescriptor.class})
public final class RateLimitsEndpointAutoConfiguration {

    /** Of this context: it knows the limits of its parent, whose endpoint does not know those of this one. */
    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    RateLimitsEndpoint rateLimitsEndpoint(
            RateLimitAdmin admin,
            LimitCatalog catalog,
            RateLimitStartup startup,
            ObjectProvider<RateLimitGate> gates,
            ObjectProvider<RateLimitStatistics> statistics,
            ListableBeanFactory beans) {
        return new RateLimitsEndpoint(
                admin,
                catalog::names,
                limit -> new Usage(
                        catalog.settings().of(limit).get(LimitAttributes.POINTCUT),
                        startup.methods(limit),
                        startup.requests(limit)),
                limit -> {
                    RateLimitGate gate = gates.getObject();
                    return Load.of(limit, gate.heldPermits(limit), gate.waitingCalls(limit));
                },
                store(beans, catalog.settings().localShare()),
                statistics.getIfAvailable(),
                InstanceName.get(),
                Clock.systemUTC());
    }

    private static Supplier<StoreDescriptor> store(ListableBeanFactory beans, LocalShare share) {
        String kind = StoreConfiguration.kind(beans);
        ObjectProvider<StoreHealth> health = beans.getBeanProvider(StoreHealth.class);
        ObjectProvider<RedisServers> servers = beans.getBeanProvider(RedisServers.class);
        InstanceCount instances = beans.getBeanProvider(InstanceCount.class).getIfAvailable();
        return () -> {
            StoreDescriptor store = StoreDescriptor.of(
                    kind,
                    health.stream().findFirst().map(StoreHealth::failures).orElseGet(List::of),
                    servers.stream().findFirst().map(RedisServers::names).orElseGet(List::of));
            return instances == null ? store : store.dividing(share.divisor(instances.get()));
        };
    }

    @Bean
    EndpointProblems rateLimitsEndpointProblems() {
        return new EndpointProblems();
    }
}
