package com.acme;

import com.acme.Quotes.Order;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One path for each case, the same in servlet and in reactive applications. */
@RestController
public class QuoteController {

    private final Quotes quotes;

    private final PartnerClient partner;

    private final RateLimiterRegistry limits;

    public QuoteController(Quotes quotes, PartnerClient partner, RateLimiterRegistry limits) {
        this.quotes = quotes;
        this.partner = partner;
        this.limits = limits;
    }

    @GetMapping("/plain")
    public Mono<String> plain(String key) {
        return onOtherThread(() -> quotes.plain(key));
    }

    @GetMapping("/future")
    public CompletableFuture<String> future(String key) {
        return quotes.future(key);
    }

    @GetMapping("/mono")
    public Mono<String> mono(String key) {
        return quotes.mono(key);
    }

    @GetMapping("/flux")
    public Flux<String> flux(String key) {
        return quotes.flux(key);
    }

    @GetMapping("/several")
    public Mono<String> several(String key, String tenant) {
        return quotes.several(key, tenant);
    }

    @GetMapping("/bean")
    public Mono<String> bean(String key) {
        return onOtherThread(() -> quotes.bean(key));
    }

    @GetMapping("/cost")
    public Mono<String> cost(String key, int items) {
        return onOtherThread(() -> quotes.cost(new Order(key, items)));
    }

    @GetMapping("/fallback")
    public Mono<String> fallback(String key) {
        return onOtherThread(() -> quotes.fallback(key));
    }

    @GetMapping("/refund")
    public Mono<String> refund(String key, boolean fail) {
        return onOtherThread(() -> quotes.refund(key, fail));
    }

    @GetMapping("/block")
    public Mono<String> block(String key) {
        return onOtherThread(() -> quotes.block(key));
    }

    @GetMapping("/changed")
    public Mono<String> changed(String key) {
        return onOtherThread(() -> quotes.changed(key));
    }

    @GetMapping("/wait")
    public Mono<String> await(String key) {
        return onOtherThread(() -> quotes.await(key));
    }

    @GetMapping("/hold")
    public CompletableFuture<String> hold(String key) {
        return quotes.hold(key);
    }

    @GetMapping("/end")
    public String end(String key) {
        return Integer.toString(quotes.end(key));
    }

    @GetMapping("/token-bucket")
    public Mono<String> tokenBucket(String key) {
        return onOtherThread(() -> quotes.tokenBucket(key));
    }

    @GetMapping("/leaky-bucket")
    public Mono<String> leakyBucket(String key) {
        return onOtherThread(() -> quotes.leakyBucket(key));
    }

    @GetMapping("/fixed-window")
    public Mono<String> fixedWindow(String key) {
        return onOtherThread(() -> quotes.fixedWindow(key));
    }

    @GetMapping("/sliding-window")
    public Mono<String> slidingWindow(String key) {
        return onOtherThread(() -> quotes.slidingWindow(key));
    }

    @GetMapping("/sliding-window-log")
    public Mono<String> slidingWindowLog(String key) {
        return onOtherThread(() -> quotes.slidingWindowLog(key));
    }

    @GetMapping("/own-algorithm")
    public Mono<String> ownAlgorithm(String key) {
        return onOtherThread(() -> quotes.ownAlgorithm(key));
    }

    @GetMapping("/pointcut")
    public Mono<String> pointcut(String key) {
        return onOtherThread(() -> partner.call(key));
    }

    @GetMapping("/registry")
    public Mono<Boolean> registry(String key) {
        return Mono.fromCompletionStage(() -> limits.get("registry").tryAcquireAsync(key, 1))
                .map(decision -> decision.allowed());
    }

    /** Limited itself, by what only the request knows. */
    @GetMapping("/header")
    @RateLimited(name = "header", rate = "2/d", keyExpression = "header('X-Api-Key')")
    public Mono<String> header() {
        return Mono.just("header");
    }

    @GetMapping("/address")
    @RateLimited(name = "address", rate = "2/d", keyExpression = "clientIp")
    public Mono<String> address() {
        return Mono.just("address");
    }

    /** Limited by a rule in limits.yml. */
    @GetMapping("/url/{key}")
    public Mono<String> url(@PathVariable String key) {
        return Mono.just("url");
    }

    @ExceptionHandler
    public String failed(IOException ex) {
        return ex.getMessage();
    }

    /** Event loops must not be blocked. */
    private static Mono<String> onOtherThread(Callable<String> call) {
        return Mono.fromCallable(call).subscribeOn(Schedulers.boundedElastic());
    }
}
