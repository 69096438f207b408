package io.ratelimit.test.shop;

import io.ratelimit.RateLimit;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class PaymentLimit {

    @Bean
    RateLimit payments() {
        return RateLimit.named("payments").capacity(1).rate("2/m").build();
    }
}
