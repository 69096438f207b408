package io.ratelimit.sample;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import org.springframework.stereotype.Service;

/** Not only controllers can be limited: any method of a bean can. A report costs its tenant one permit for every page. */
@Service
class ReportService {

    /** The capacity in force is another one: see {@code application.yml}. */
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
