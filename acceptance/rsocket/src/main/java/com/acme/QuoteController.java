package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.stereotype.Controller;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@Controller
public class QuoteController {

    private final AtomicInteger sent = new AtomicInteger();

    @MessageMapping("quote")
    @RateLimited(name = "quotes", rate = "1/d", keyExpression = "#user")
    public Mono<String> quote(@Payload(required = false) String user) {
        return Mono.just("42");
    }

    @MessageMapping("broken")
    @RateLimited(name = "broken", rate = "1/d", keyExpression = "@environment.getRequiredProperty('absent')")
    public Mono<String> broken(@Payload(required = false) String nothing) {
        return Mono.just("42");
    }

    /** Without a response. */
    @MessageMapping("send")
    @RateLimited(name = "sends", rate = "1/d")
    public Mono<Void> send(String text) {
        sent.incrementAndGet();
        return Mono.empty();
    }

    @MessageMapping("sent")
    public Mono<String> sent() {
        return Mono.just(sent.toString());
    }

    /** As many as the request says. */
    @MessageMapping("quotes")
    @RateLimited(name = "streams", algorithm = Algorithm.CONCURRENCY, capacity = 1)
    public Flux<String> quotes(String count) {
        return Flux.range(0, Integer.parseInt(count))
                .delayElements(Duration.ofMillis(10))
                .map(String::valueOf);
    }
}
