package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Answers at once. The path is also limited by a rule in limits.yml. */
@RestController
public class ReactiveController {

    private final Calls calls;

    public ReactiveController(Calls calls) {
        this.calls = calls;
    }

    @GetMapping("/ends/{store}/plain/{key}")
    @RateLimited(
            name = "ends-collected",
            algorithm = Algorithm.FIXED_WINDOW,
            rate = "1000000/d",
            keyExpression = "#key",
            permitsAfter = "@collected")
    public Mono<String> plain(@PathVariable String key) {
        return Mono.fromSupplier(() -> {
            calls.admitted(key);
            return key;
        });
    }

    /** Lets decisions run on another thread than the one that learns of the client's end. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static WebFilter continuesOnOtherThread() {
        return (exchange, chain) -> path(exchange).startsWith("/ends/")
                ? chain.filter(exchange).subscribeOn(Schedulers.parallel())
                : chain.filter(exchange);
    }

    /** A call whose only value is written is to be settled. If the client goes before, the estimate is the cost. */
    @Bean
    static WebFilter writtenCalls(Calls calls) {
        return (exchange, chain) -> {
            String path = path(exchange);
            return path.contains("/plain/")
                    ? chain.filter(exchange)
                            .doOnSuccess(written -> calls.toSettle(path.substring(path.lastIndexOf('/') + 1)))
                    : chain.filter(exchange);
        };
    }

    private static String path(ServerWebExchange exchange) {
        return exchange.getRequest().getPath().value();
    }
}
