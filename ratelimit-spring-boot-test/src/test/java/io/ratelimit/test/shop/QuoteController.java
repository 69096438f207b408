package io.ratelimit.test.shop;

import io.ratelimit.annotation.RateLimited;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class QuoteController {

    private final ExportService exports;

    QuoteController(ExportService exports) {
        this.exports = exports;
    }

    @GetMapping("/quotes")
    @RateLimited(name = "quotes", capacity = 2, rate = "2/m", keyExpression = "#user")
    public String quote(@RequestParam String user) {
        return "42 for " + user;
    }

    @GetMapping("/exports")
    public String export() {
        return exports.export("acme");
    }
}
