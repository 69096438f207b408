package io.ratelimit.autoconfigure;

import io.ratelimit.graphql.GraphQlRejectionResolver;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import reactor.core.publisher.Mono;

/** Auto-configuration of the errors with which GraphQL answers rejections. Handlers of the application come before it. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({DataFetcherExceptionResolver.class, Mono.class})
@ConditionalOnBean(name = RateLimitAutoConfiguration.VALIDATOR)
@Conditional(OnRateLimitsEnabled.class)
public final class RateLimitGraphQlAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    GraphQlRejectionResolver rateLimitGraphQlRejectionResolver() {
        return new GraphQlRejectionResolver();
    }
}
