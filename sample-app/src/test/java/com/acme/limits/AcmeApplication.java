package com.acme.limits;

import io.ratelimit.annotation.RateLimited;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application with two algorithms of its own: acme.yml names those of Algorithms. */
@SpringBootApplication
class AcmeApplication {

    @RestController
    static class AcmeController {

        @GetMapping("/readings")
        @RateLimited(name = "readings", keyExpression = "clientIp")
        public String readings() {
            return "21.5 °C";
        }

        @GetMapping("/exports")
        @RateLimited(name = "exports", keyExpression = "clientIp")
        public String exports() {
            return "done";
        }
    }
}
