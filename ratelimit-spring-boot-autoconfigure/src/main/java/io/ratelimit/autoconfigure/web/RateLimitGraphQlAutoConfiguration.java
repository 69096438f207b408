package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.graphql.GraphQlRejectionResolver;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import reactor.core.publisher.Mono;

/**
 * Auto-configuration of the errors with which GraphQL answers rejections. Comes last, because resolvers are asked in the order of
 * their beans, and handlers of the application belong to a bean of Spring Boot.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnClass({DataFetcherExceptionResolver.class, Mono.class})
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
public final class RateLimitGraphQlAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    GraphQlRejectionResolver rateLimitGraphQlRejectionResolver() {
        return new GraphQlRejectionResolver();
    }
}
