package io.ratelimit.test.reactive;

import io.ratelimit.annotation.RateLimited;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class ReactiveQuoteController {

    @GetMapping("/quotes")
    @RateLimited(name = "quotes", capacity = 2, rate = "2/m")
    public Mono<String> quote() {
        return Mono.just("42");
    }
}
