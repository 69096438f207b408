package io.ratelimit.autoconfigure.web;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.web.RequestRule;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.WebSettings;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/** Configures what both web stacks share. */
@Configuration(proxyBeanMethods = false)
class WebConfiguration {

    /** Spring Security uses the bean of this name, too. */
    static final String CORS_SOURCE = "corsConfigurationSource";

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.web.SecurityFilterChain", WebConfiguration.class.getClassLoader());

    /** The order of Spring Security's filter in both stacks. A servlet application can set another one. */
    static final int SECURITY_ORDER = -100;

    @Bean
    @ConditionalOnMissingBean
    WebSettings rateLimitWebSettings(
            RateLimitProperties properties, LimitCatalog limits, ObjectProvider<TimeSource> time) {
        return new WebSettings(
                properties.web().headers(),
                properties.web().ipv6Prefix(),
                properties.web().missingKeyStatus(),
                properties.web().outboundStatus(),
                limits,
                time.getIfUnique(TimeSource::monotonic));
    }

    /**
     * Creates the URL rules, which read paths as the application's handlers do.
     *
     * @param securityOrder the order of Spring Security's filter
     * @param parser the parser of a handler mapping; {@code null} if it uses Ant patterns
     */
    static <M> RequestRuleMapping requestRules(
            RateLimitProperties properties,
            int securityOrder,
            LimitCatalog catalog,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<M> mappings,
            Function<M, @Nullable PathPatternParser> parser) {
        int before = beforeSecurity(properties, securityOrder);
        int after = Math.max(before, securityOrder == Integer.MAX_VALUE ? securityOrder : securityOrder + 1);
        return new RequestRuleMapping(
                properties.requestRules(),
                new LimitOperations(catalog, beans),
                () -> {
                    M mapping = mappings.getIfAvailable();
                    PathPatternParser used = mapping == null ? null : parser.apply(mapping);
                    return used == null ? PathPatternParser.defaultInstance : used;
                },
                () -> beans.getBeanProvider(ProbePaths.class).stream()
                        .flatMap(probes -> probes.paths().stream())
                        .toList(),
                Map.of(RuleOrder.BEFORE_SECURITY, before, RuleOrder.AFTER_SECURITY, after),
                SECURITY && before < after);
    }

    private static int beforeSecurity(RateLimitProperties properties, int securityOrder) {
        Integer order = properties.web().filterOrder();
        if (order == null) {
            return Math.max(securityOrder, Integer.MIN_VALUE + 1) - 1;
        }
        Stream<RequestRule> contradicting = properties.requestRules().stream()
                .filter(rule -> SECURITY && order >= securityOrder && rule.order() == RuleOrder.BEFORE_SECURITY);
        contradicting.findFirst().ifPresent(rule -> {
            throw new RateLimitConfigurationException(
                    "ratelimit.web.filter-order must be less than " + securityOrder + ", the order of Spring Security's"
                            + " filter, because " + rule.property() + ".order is before-security (was " + order + ").",
                    "Remove one of the two.");
        });
        return order;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({PathMappedEndpoints.class, ManagementPortType.class})
    static class Probes {

        @Bean
        ProbePaths rateLimitProbePaths(ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {
            return new ProbePaths(endpoints, environment);
        }
    }
}
