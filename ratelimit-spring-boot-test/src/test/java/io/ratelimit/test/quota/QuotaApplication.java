package io.ratelimit.test.quota;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import java.time.ZoneId;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An application with a monthly quota. */
@SpringBootApplication
class QuotaApplication {

    @Bean
    RateLimit apiQuota() {
        return RateLimit.named("api-quota")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("10000/month")
                .zone(ZoneId.of("Europe/Berlin"))
                .build();
    }
}
