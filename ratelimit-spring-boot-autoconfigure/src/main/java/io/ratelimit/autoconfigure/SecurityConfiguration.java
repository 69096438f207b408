package io.ratelimit.autoconfigure;

import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.web.reactive.SecurityCallerRequests;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import reactor.core.publisher.Mono;

/** Configures the principal of Spring Security for reactive calls, in an application that is not a web application. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnNotWebApplication
@ConditionalOnClass({ReactiveSecurityContextHolder.class, Mono.class})
class SecurityConfiguration {

    @Bean
    @ConditionalOnMissingBean
    ReactiveRequestCallSource rateLimitCallerRequests() {
        return new SecurityCallerRequests();
    }
}
