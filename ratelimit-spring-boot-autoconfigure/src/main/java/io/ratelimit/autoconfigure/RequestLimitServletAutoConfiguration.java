package io.ratelimit.autoconfigure;

import io.ratelimit.expression.RequestLimits;
import io.ratelimit.limiter.LimitCatalog;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.web.RequestRules;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.servlet.RequestLimitFilter;
import io.ratelimit.web.servlet.ServletRejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPatternParser;

/** Auto-configuration of limits of URLs in a servlet application. */
@AutoConfiguration(after = {RateLimitAutoConfiguration.class, RateLimitServletAutoConfiguration.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpServletRequest.class, DispatcherServlet.class})
@Conditional({OnRateLimitsEnabled.class, OnRequestRules.class})
public final class RequestLimitServletAutoConfiguration {

    @Bean
    RequestRules rateLimitRequestRules(
            RateLimitProperties properties,
            LimitCatalog catalog,
            ConfigurableListableBeanFactory beans,
            @Qualifier("requestMappingHandlerMapping") ObjectProvider<RequestMappingHandlerMapping> handlers) {
        return new RequestRules(
                properties.requestRules(),
                new RequestLimits(catalog, beans),
                () -> parser(handlers),
                () -> openPaths(handlers));
    }

    private static List<String> openPaths(ObjectProvider<RequestMappingHandlerMapping> handlers) {
        return handlers.stream()
                .flatMap(mapping -> mapping.getHandlerMethods().entrySet().stream())
                .filter(handler ->
                        handler.getKey().getMethodsCondition().getMethods().isEmpty())
                // The application's, not one for error pages.
                .filter(handler -> !handler.getValue().getBeanType().getName().startsWith("org.springframework."))
                .flatMap(handler -> handler.getKey().getPatternValues().stream())
                .toList();
    }

    /** The handlers', unless they match by Ant's patterns. */
    private static PathPatternParser parser(ObjectProvider<RequestMappingHandlerMapping> handlers) {
        RequestMappingHandlerMapping mapping = handlers.getIfAvailable();
        PathPatternParser parser = mapping == null ? null : mapping.getPatternParser();
        return parser == null ? PathPatternParser.defaultInstance : parser;
    }

    @Bean
    RequestLimiting rateLimitRequestLimiting(RequestRules rules) {
        return rules::start;
    }

    @Bean
    RequestLimitFilter rateLimitRequestFilter(
            RequestRules rules,
            RateLimitGate gate,
            RateLimitProperties properties,
            WebSettings settings,
            ServletRejectionHandler rejected) {
        return new RequestLimitFilter(
                rules, gate, settings, rejected, properties.web().filterOrder());
    }
}
