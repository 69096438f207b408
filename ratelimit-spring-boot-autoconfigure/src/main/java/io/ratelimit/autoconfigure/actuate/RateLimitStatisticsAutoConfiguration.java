package io.ratelimit.autoconfigure.actuate;

import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.actuate.StoreDescriptor;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.RateLimitLifecycle;
import io.ratelimit.autoconfigure.RateLimitLifecycle.Stage;
import io.ratelimit.autoconfigure.StoreConfiguration;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.internal.statistics.InstanceCount;
import io.ratelimit.internal.statistics.InstanceState;
import io.ratelimit.internal.statistics.RateLimitStatistics;
import io.ratelimit.internal.statistics.SharedStatistics;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreHealth;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/**
 * Auto-configuration of the figures of limits, where the endpoint shows them or {@code ratelimit.statistics.enabled} is
 * {@code true}. A child context counts with that of its parent.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
@Conditional(RateLimitStatisticsAutoConfiguration.OnStatistics.class)
@ConditionalOnMissingBean(RateLimitStatistics.class)
public final class RateLimitStatisticsAutoConfiguration {

    @Bean(destroyMethod = "close")
    RateLimitStatistics rateLimitStatistics(
            ListableBeanFactory beans,
            ObjectProvider<SharedStatistics> shared,
            ObjectProvider<StoreHealth> health,
            ObjectProvider<InstanceCount> instances,
            RateLimitProperties properties) {
        String kind = StoreConfiguration.kind(beans);
        return RateLimitStatistics.of(
                InstanceName.get(),
                shared.getIfAvailable(),
                () -> state(kind, health),
                properties.topKeys().enabled() ? properties.redis().keyHash()::name : null,
                instances.getIfAvailable(InstanceCount::new));
    }

    private static InstanceState state(String kind, ObjectProvider<StoreHealth> health) {
        List<StoreFailure> failures = health.stream()
                .findFirst()
                .map(RateLimitStatisticsAutoConfiguration::failures)
                .orElseGet(List::of);
        StoreDescriptor store = StoreDescriptor.of(kind, failures, List.of());
        return new InstanceState(store.state(), store.reason(), StoreDescriptor.failingServers(failures));
    }

    /** Without calls, only a check finds out that the store decides again. */
    private static List<StoreFailure> failures(StoreHealth store) {
        List<StoreFailure> last = store.lastFailures();
        return last.isEmpty() ? last : store.failures();
    }

    @Bean
    RateLimitListener rateLimitStatisticsListener(RateLimitStatistics statistics) {
        return statistics.listener();
    }

    @Bean
    RateLimitLifecycle.Part rateLimitStatisticsPart(RateLimitStatistics statistics) {
        return new RateLimitLifecycle.Part(Stage.FIGURES, statistics::start, statistics::stop);
    }

    static class OnStatistics extends AnyNestedCondition {

        OnStatistics() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnProperty("ratelimit.statistics.enabled")
        static class Wanted {}

        /** The class has to be there, because an annotation that is not is no condition. */
        @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
        @ConditionalOnProperty(value = "ratelimit.statistics.enabled", matchIfMissing = true)
        @ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
        static class Shown {}
    }
}
