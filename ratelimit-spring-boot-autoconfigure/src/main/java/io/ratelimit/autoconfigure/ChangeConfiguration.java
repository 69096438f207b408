package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.autoconfigure.RateLimitLifecycle.Stage;
import io.ratelimit.autoconfigure.diagnostics.ConfiguredProperties;
import io.ratelimit.internal.change.BucketUpdater;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.change.ChangeListener;
import io.ratelimit.internal.change.LimitAdmin;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.reactor.EventLoops;
import io.ratelimit.spi.RateLimitCustomizer;
import io.ratelimit.spi.RateLimitStore;
import java.lang.System.Logger.Level;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Configures what changes limits while the application runs. Imported after the configuration of Redis. */
@Configuration(proxyBeanMethods = false)
class ChangeConfiguration {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    @Bean
    @Conditional(OnStoreOfThisContext.class)
    @ConditionalOnMissingBean
    OverrideSynchronizer rateLimitOverridesOfThisInstance(BeanFactory beans) {
        // A script executor of the application runs the script that decides, and not that of overrides.
        if (StoreConfiguration.kind(beans).equals(StoreConfiguration.REDIS)) {
            logger.log(
                    Level.INFO,
                    "Overrides of rate limits apply to this instance alone, because a RateLimitScriptExecutor bean replaces"
                            + " the starter's connection to Redis");
        }
        return OverrideSynchronizer.ofThisInstance();
    }

    @Bean
    RateLimitLifecycle.Part rateLimitOverridePart(
            OverrideSynchronizer synchronizer, LimitCatalog catalog, ObjectProvider<ChangeListener> listeners) {
        listeners.orderedStream().forEach(listener -> synchronizer.addListener(catalog, listener));
        return new RateLimitLifecycle.Part(
                Stage.OVERRIDES, () -> synchronizer.add(catalog), () -> synchronizer.remove(catalog));
    }

    @Bean
    @Conditional(OnStoreOfThisContext.class)
    BucketUpdater rateLimitBucketChanges(
            RateLimitStore store, ObjectProvider<ChangeChannel> channel, OverrideSynchronizer synchronizer) {
        return new BucketUpdater(store, channel.getIfAvailable(() -> ChangeChannel.NONE), synchronizer);
    }

    @Bean
    static ConfigurationRefresh rateLimitConfigurationRefresh(
            Environment environment, BeanFactory beans, ObjectProvider<RateLimitCustomizer> customizers) {
        return new ConfigurationRefresh(environment, beans, customizers);
    }

    @Bean
    @ConditionalOnMissingBean(value = RateLimitAdmin.class, search = SearchStrategy.CURRENT)
    RateLimitAdmin rateLimitAdmin(
            LimitCatalog catalog, OverrideSynchronizer synchronizer, BucketUpdater buckets, Environment environment) {
        return new LimitAdmin(
                catalog, synchronizer, buckets, EventLoops::isCurrentThread, new ConfiguredProperties(environment));
    }
}
