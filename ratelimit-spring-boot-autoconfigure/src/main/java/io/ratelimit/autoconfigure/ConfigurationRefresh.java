package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.diagnostics.MistakenValue;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.RateLimitCustomizer;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Applies {@code ratelimit.limits} and {@code ratelimit.defaults} again when Spring Cloud has changed the environment, such as
 * after a refresh. Recognizes its event by name. Invalid properties change nothing.
 */
final class ConfigurationRefresh implements SmartApplicationListener {

    /** The event of spring-cloud-context. */
    static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final Environment environment;

    private final BeanFactory beans;

    private final ObjectProvider<RateLimitCustomizer> customizers;

    private final Set<String> newLimits = ConcurrentHashMap.newKeySet();

    /** Looks beans up when there is an event, because listeners are created before other beans. */
    ConfigurationRefresh(Environment environment, BeanFactory beans, ObjectProvider<RateLimitCustomizer> customizers) {
        this.environment = environment;
        this.beans = beans;
        this.customizers = customizers;
    }

    @Override
    public boolean supportsEventType(Class<? extends ApplicationEvent> type) {
        return type.getName().equals(EVENT);
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        List<EffectiveLimit> changed;
        try {
            RateLimitProperties properties =
                    Binder.get(environment).bindOrCreate("ratelimit", RateLimitProperties.class);
            changed = beans.getBean(LimitCatalog.class)
                    .reconfigure(LimiterConfiguration.settings(
                            properties, beans.getBean(AlgorithmCatalog.class), customizers));
        } catch (RuntimeException ex) {
            refused(ex instanceof BindException failure ? MistakenValue.describe(failure) : ex);
            return;
        }
        beans.getBean(OverrideSynchronizer.class).reconfigured(changed);
        warnOfNewLimits(beans.getBean(LimitCatalog.class).undeclared());
    }

    /** Each of them once, until it is removed: there can be a refresh every minute. */
    private void warnOfNewLimits(List<String> properties) {
        newLimits.retainAll(properties);
        List<String> added = properties.stream().filter(newLimits::add).toList();
        if (!added.isEmpty()) {
            logger.log(
                    Level.WARNING,
                    "Refreshed properties declare new rate limits (" + String.join(", ", added)
                            + "); ignoring them until the application is restarted, because limits are declared at startup."
                            + " The other properties apply");
        }
    }

    private static void refused(RuntimeException failure) {
        Throwable mistake = failure;
        while (!(mistake instanceof RateLimitConfigurationException) && mistake.getCause() != null) {
            mistake = mistake.getCause();
        }
        logger.log(
                Level.WARNING,
                "Refreshed properties of rate limits are invalid (" + mistake.getMessage()
                        + "); keeping the present ones");
    }
}
