package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.time.Duration;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

/** Writes for 0.1 s, or for longer. The path is also limited by a rule in limits.yml. */
@RestController
public class FluxController {

    private final Calls calls;

    public FluxController(Calls calls) {
        this.calls = calls;
    }

    @GetMapping(path = "/ends/{store}/flux/{key}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    @RateLimited(
            name = "ends-collected",
            algorithm = Algorithm.FIXED_WINDOW,
            rate = "1000000/d",
            keyExpression = "#key",
            permitsAfter = "@collected")
    public Flux<String> flux(@PathVariable String key, @RequestParam(defaultValue = "false") boolean endless) {
        return Flux.defer(() -> {
            calls.admitted(key);
            return Flux.interval(Duration.ZERO, Duration.ofMillis(5))
                    .onBackpressureDrop()
                    // A publisher has no timeout.
                    .take(endless ? 200 : 20)
                    .map(number -> key);
        });
    }
}
