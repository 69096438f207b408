package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.time.Duration;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import reactor.core.publisher.Flux;

/** Server-sent events: as many as the request says, one each 20 ms. */
@RestController
public class EventController {

    @GetMapping("/events/flux")
    @RateLimited(name = "fluxes", algorithm = Algorithm.CONCURRENCY, capacity = 1)
    public Flux<ServerSentEvent<Integer>> flux(@RequestParam int count) {
        return events(count);
    }

    /** Limited by a rule in the configuration. */
    @GetMapping("/events/emitter")
    public SseEmitter emitter(@RequestParam int count) {
        return emitting(count);
    }

    @GetMapping("/events/{user}/flux")
    @RateLimited(name = "flux-starts", rate = "1/d", keyExpression = "#user")
    public Flux<ServerSentEvent<Integer>> fluxOf(@PathVariable String user) {
        return events(1);
    }

    @GetMapping("/events/{user}/emitter")
    @RateLimited(name = "emitter-starts", rate = "1/d", keyExpression = "#user")
    public SseEmitter emitterOf(@PathVariable String user) {
        return emitting(1);
    }

    private static Flux<ServerSentEvent<Integer>> events(int count) {
        return Flux.range(0, count).delayElements(Duration.ofMillis(20)).map(number -> ServerSentEvent.builder(number)
                .build());
    }

    private static SseEmitter emitting(int count) {
        SseEmitter emitter = new SseEmitter(0L);
        events(count).subscribe(event -> send(emitter, event.data()), emitter::completeWithError, emitter::complete);
        return emitter;
    }

    private static void send(SseEmitter emitter, Object data) {
        try {
            emitter.send(data);
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
