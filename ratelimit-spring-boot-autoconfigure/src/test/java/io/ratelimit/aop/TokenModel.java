package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.springframework.http.ResponseEntity;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A model whose calls cost what they turn out to use instead of an estimate of 10 tokens, in buckets of 100 tokens. */
class TokenModel {

    record Answer(int tokens) {}

    @RateLimited(name = "value", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
    Answer value(int tokens) {
        if (tokens < 0) {
            throw new IllegalStateException();
        }
        return new Answer(tokens);
    }

    @RateLimited(name = "future", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
    CompletableFuture<Answer> future(CompletableFuture<Answer> answer) {
        return answer.thenApply(done -> done);
    }

    @RateLimited(name = "mono", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
    Mono<Answer> mono(int tokens) {
        return Mono.just(new Answer(tokens));
    }

    @RateLimited(name = "estimated", rate = "100/100s", permits = "#p0", permitsAfter = "#result")
    int estimated(int estimate, int tokens) {
        return tokens;
    }

    @RateLimited(name = "flux", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
    Flux<Answer> flux(Flux<Integer> tokens) {
        return tokens.map(Answer::new);
    }

    @RateLimited(name = "collected", rate = "100/100s", permits = "10", permitsAfter = "@sum")
    Flux<Answer> collected(Flux<Integer> tokens) {
        return tokens.map(Answer::new);
    }

    @RateLimited(
            name = "failing",
            rate = "100/100s",
            permits = "10",
            permitsAfter = "#exception == null ? 1 : 2",
            refundOn = IOException.class)
    void failing(boolean state) throws IOException {
        if (state) {
            throw new IllegalStateException();
        }
        throw new IOException();
    }

    @RateLimited(name = "requests", rate = "100/100s")
    @RateLimited(name = "less", rate = "100/100s", permits = "10", permitsAfter = "#result")
    @RateLimited(name = "more", rate = "100/100s", permits = "10", permitsAfter = "#result * #p0 + 24")
    int two(int tokens) {
        return tokens;
    }

    @RateLimited(name = "odd", rate = "100/100s", permits = "10", permitsAfter = "#result")
    Integer odd(Integer tokens) {
        return tokens;
    }

    @RateLimited(name = "any", rate = "100/100s", permits = "10", permitsAfter = "#result")
    Object any(Object cost) {
        return cost;
    }

    @RateLimited(
            name = "maybe",
            rate = "100/100s",
            permits = "10",
            permitsAfter = "#result == null ? 1 : #result.tokens")
    Mono<Answer> maybe(Mono<Answer> answer) {
        return answer;
    }

    @RateLimited(
            name = "broken",
            rate = "100/100s",
            permits = "10",
            permitsAfter = "#exception.class.simpleName.length()")
    void broken() {
        throw new AssertionError("expected by the test");
    }

    @RateLimited(
            name = "or-else",
            rate = "100/100s",
            permits = "10",
            permitsAfter = "#result",
            fallbackMethod = "nothing")
    int orElse(int tokens) {
        return tokens;
    }

    int nothing(int tokens) {
        return -1;
    }

    @RateLimited(
            name = "entity",
            rate = "100/100s",
            permits = "10",
            permitsAfter = "#result.tokens",
            refundOn = IOException.class)
    Mono<ResponseEntity<Flux<Answer>>> entity(Flux<Answer> answers) {
        return Mono.just(ResponseEntity.accepted().header("X-Kept", "yes").body(answers));
    }

    @RateLimited(name = "entity-with-mono", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
    Mono<ResponseEntity<Mono<Answer>>> entityWithMono(Mono<Answer> answer) {
        return Mono.just(ResponseEntity.ok(answer));
    }

    @RateLimited(name = "plain", rate = "100/100s", permits = "10")
    int plain(int tokens) {
        return tokens;
    }
}
