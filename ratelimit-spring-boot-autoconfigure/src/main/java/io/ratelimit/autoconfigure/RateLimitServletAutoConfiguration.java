package io.ratelimit.autoconfigure;

import io.ratelimit.aop.CallerRequest;
import io.ratelimit.web.RateLimitBodyAdvice;
import io.ratelimit.web.RateLimitExceptionAdvice;
import io.ratelimit.web.RateLimitFieldsFilter;
import io.ratelimit.web.RejectedRequests;
import io.ratelimit.web.ServletCallerRequests;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;

/** Auto-configuration of rate limits in a servlet application. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration",
            "org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({HttpServletRequest.class, DispatcherServlet.class})
@Conditional(OnRateLimitsEnabled.class)
public final class RateLimitServletAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    WebSettings rateLimitWebSettings(RateLimitProperties properties) {
        return new WebSettings(
                properties.web().headers(),
                properties.web().ipv6Prefix(),
                properties.web().missingKeyStatus());
    }

    @Bean
    @ConditionalOnMissingBean
    CallerRequest.Source rateLimitCallerRequests(WebSettings settings) {
        return new ServletCallerRequests(settings);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitFieldsFilter rateLimitFieldsFilter(
            WebSettings settings,
            @Qualifier("handlerExceptionResolver") ObjectProvider<HandlerExceptionResolver> resolver) {
        return new RateLimitFieldsFilter(settings, new RejectedRequests(resolver::getIfAvailable));
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitBodyAdvice rateLimitBodyAdvice(WebSettings settings) {
        return new RateLimitBodyAdvice(settings);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionAdvice rateLimitExceptionAdvice(ApplicationContext context, WebSettings settings) {
        return new RateLimitExceptionAdvice(context, context, settings);
    }
}
