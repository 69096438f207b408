package com.acme.limits;

import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class Algorithms {

    @Bean
    JitterTolerant jitterTolerant() {
        return new JitterTolerant(Duration.ofMillis(20));
    }

    @Bean
    FasterByNight fasterByNight() {
        return new FasterByNight(22, 6, 3);
    }
}
