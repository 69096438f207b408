package io.ratelimit.sample;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import jakarta.validation.constraints.NotBlank;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Each user has a bucket of five permits, and one comes back every second. */
@RestController
class QuoteController {

    private static final List<Quote> QUOTES = List.of(
            new Quote("Simplicity is prerequisite for reliability.", "Edsger W. Dijkstra"),
            new Quote("Premature optimization is the root of all evil.", "Donald E. Knuth"),
            new Quote("A ship in port is safe, but that is not what ships are for.", "Grace Hopper"));

    @RateLimited(
            name = "quotes",
            algorithm = Algorithm.TOKEN_BUCKET,
            capacity = 5,
            rate = "1/s",
            keyExpression = "#user")
    @GetMapping("/api/quotes")
    Quote quote(@RequestParam @NotBlank(message = "user must not be blank") String user) {
        return QUOTES.get(ThreadLocalRandom.current().nextInt(QUOTES.size()));
    }
}
