package io.ratelimit.autoconfigure.web;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.stomp.MessageRejectionAdvice;
import io.ratelimit.stomp.StompCallConfigurer;
import io.ratelimit.stomp.StompCallSource;
import io.ratelimit.web.WebSettings;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.web.socket.config.annotation.DelegatingWebSocketMessageBrokerConfiguration;

/** Auto-configuration of rate limits for messages of STOMP over WebSocket, in an application that has configured a broker. */
@AutoConfiguration(after = RateLimitServletAutoConfiguration.class)
@ConditionalOnClass({ChannelRegistration.class, DelegatingWebSocketMessageBrokerConfiguration.class})
@ConditionalOnBean(
        value = DelegatingWebSocketMessageBrokerConfiguration.class,
        name = RateLimitServletAutoConfiguration.CALLERS)
public final class RateLimitStompAutoConfiguration {

    @Bean
    @Primary
    StompCallSource rateLimitStompCalls(
            @Qualifier(RateLimitServletAutoConfiguration.CALLERS) RequestCall.Source requests, WebSettings settings) {
        return new StompCallSource(requests, settings);
    }

    @Bean
    StompCallConfigurer rateLimitStompCallConfigurer(StompCallSource calls) {
        return new StompCallConfigurer(calls);
    }

    @Bean
    @ConditionalOnMissingBean
    MessageRejectionAdvice rateLimitMessageRejectionAdvice() {
        return new MessageRejectionAdvice();
    }
}
