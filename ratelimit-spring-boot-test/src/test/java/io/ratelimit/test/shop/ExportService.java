package io.ratelimit.test.shop;

import io.ratelimit.annotation.RateLimited;
import org.springframework.stereotype.Service;

@Service
class ExportService {

    @RateLimited(name = "exports", rate = "1/h", keyExpression = "#tenant")
    public String export(String tenant) {
        return "exported " + tenant;
    }
}
