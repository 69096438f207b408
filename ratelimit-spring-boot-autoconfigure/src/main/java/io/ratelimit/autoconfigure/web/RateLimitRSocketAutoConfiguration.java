package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.stomp.MessageRejectionAdvice;
import io.rsocket.exceptions.RejectedException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.rsocket.annotation.support.RSocketMessageHandler;
import org.springframework.web.bind.annotation.ControllerAdvice;

/** Auto-configuration of the errors with which RSocket answers rejections. */
@AutoConfiguration(after = RateLimitStompAutoConfiguration.class)
@ConditionalOnClass({RSocketMessageHandler.class, RejectedException.class, ControllerAdvice.class})
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
public final class RateLimitRSocketAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    MessageRejectionAdvice rateLimitMessageRejectionAdvice() {
        return new MessageRejectionAdvice();
    }

    /** Spring Boot 3 passes no advice to RSocket. That of Spring Boot 4 for the application comes first. */
    @Bean
    SmartInitializingSingleton rateLimitRSocketAdvice(
            ObjectProvider<RSocketMessageHandler> handlers, MessageRejectionAdvice advice) {
        return () -> handlers.forEach(handler -> handler.registerMessagingAdvice(advice));
    }
}
