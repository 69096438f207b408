package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Handlers of either stack that answer rejections themselves. */
@RestController
@Import(OwnAnswers.Calls.class)
@Profile("own-answers")
class OwnAnswers {

    private final Calls calls;

    OwnAnswers(Calls calls) {
        this.calls = calls;
    }

    @GetMapping("/caught")
    public Mono<ResponseEntity<?>> caught() {
        return calls.call()
                .<ResponseEntity<?>>map(ResponseEntity::ok)
                .onErrorReturn(ResponseEntity.status(429).body("caught"));
    }

    @GetMapping("/caught-without-a-body")
    public Mono<ResponseEntity<?>> caughtWithoutABody() {
        return calls.call()
                .<ResponseEntity<?>>map(ResponseEntity::ok)
                .onErrorReturn(ResponseEntity.status(429).build());
    }

    @GetMapping("/caught-in-a-stream")
    public Mono<ResponseEntity<Flux<String>>> caughtInAStream() {
        return calls.call()
                .map(text -> ResponseEntity.ok(Flux.just(text)))
                .onErrorReturn(ResponseEntity.status(429).body(Flux.just("one", "two")));
    }

    @GetMapping("/handled")
    public Mono<String> handled() {
        return calls.call();
    }

    @ExceptionHandler
    public ResponseEntity<String> handle(RateLimitExceededException rejection) {
        return ResponseEntity.status(429).body("handled");
    }

    @GetMapping("/own")
    public Mono<ResponseEntity<?>> own() {
        return calls.call()
                .<ResponseEntity<?>>map(ResponseEntity::ok)
                .onErrorReturn(own(ResponseEntity.status(429)).body("own"));
    }

    @GetMapping("/own-without-a-body")
    public Mono<ResponseEntity<?>> ownWithoutABody() {
        return calls.call()
                .<ResponseEntity<?>>map(ResponseEntity::ok)
                .onErrorReturn(own(ResponseEntity.status(429)).build());
    }

    private static ResponseEntity.BodyBuilder own(ResponseEntity.BodyBuilder answer) {
        return answer.header("Retry-After", "7");
    }

    @GetMapping("/fallback")
    public Mono<String> fallback() {
        return calls.callOrElse();
    }

    static class Calls {

        @RateLimited(name = "calls", rate = "1/h")
        public Mono<String> call() {
            return Mono.just("called");
        }

        @RateLimited(name = "calls", rate = "1/h", fallbackMethod = "instead")
        public Mono<String> callOrElse() {
            return Mono.just("called");
        }

        Mono<String> instead() {
            return Mono.just("instead");
        }
    }
}
