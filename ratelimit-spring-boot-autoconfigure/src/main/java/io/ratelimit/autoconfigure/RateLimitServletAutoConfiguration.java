package io.ratelimit.autoconfigure;

import io.ratelimit.aop.CallerRequest;
import io.ratelimit.web.RateLimitExceptionAdvice;
import io.ratelimit.web.ServletCallerRequests;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.web.servlet.DispatcherServlet;

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
    CallerRequest.Source rateLimitCallerRequests() {
        return new ServletCallerRequests();
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionAdvice rateLimitExceptionAdvice(ListableBeanFactory beans) {
        return new RateLimitExceptionAdvice(beans);
    }
}
