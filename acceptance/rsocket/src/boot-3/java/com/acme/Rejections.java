package com.acme;

import io.ratelimit.RateLimitExceededException;
import io.rsocket.exceptions.RejectedException;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import reactor.core.publisher.Mono;

/** As docs/protocols.md recommends for Spring Boot 3. */
public abstract class Rejections {

    @MessageExceptionHandler
    public Mono<Void> rejected(RateLimitExceededException rejection) {
        return Mono.error(new RejectedException(rejection.getMessage()));
    }
}
