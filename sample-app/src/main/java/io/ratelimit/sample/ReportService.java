package io.ratelimit.sample;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import org.springframework.stereotype.Service;

/** Any method of a bean can be limited, not only controllers. A report costs its tenant one permit for each page. */
@Service
class ReportService {

    /** {@code application.yml} overrides the capacity. */
    @RateLimited(
            name = "reports",
            algorithm = Algorithm.TOKEN_BUCKET,
            capacity = 50,
            rate = "100/m",
            keyExpression = "#tenant",
            permits = "#pages")
    Report create(String tenant, int pages) {
        return new Report(tenant, pages);
    }
}
