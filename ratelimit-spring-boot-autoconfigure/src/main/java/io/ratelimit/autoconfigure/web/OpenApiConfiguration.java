package io.ratelimit.autoconfigure.web;

import io.ratelimit.aop.LimitedMethodResolver;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.openapi.RateLimitOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Describes limited operations, if springdoc-openapi describes the application. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(GlobalOperationCustomizer.class)
class OpenApiConfiguration {

    @Bean
    @ConditionalOnMissingBean
    RateLimitOpenApiCustomizer rateLimitOpenApiCustomizer(
            LimitedMethodResolver methods, ObjectProvider<RequestRuleMapping> rules, RateLimitProperties properties) {
        return new RateLimitOpenApiCustomizer(
                methods::limits, rules::getIfAvailable, properties.web().headers());
    }
}
