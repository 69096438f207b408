package io.ratelimit.benchmarks.memory;

import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import io.github.resilience4j.ratelimiter.annotation.RateLimiter;
import io.ratelimit.benchmarks.race.Applications;
import io.ratelimit.benchmarks.race.Contestant;
import java.util.Map;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Resilience4j's annotation, by its starter for Spring Boot 4. It has no keys. What comes nearest is an expression for
 * the name, which makes a limiter for each user and keeps it for ever.
 */
public final class Resilience4jAnnotation implements Contestant {

    private final ConfigurableApplicationContext application;

    private final Quotes quotes;

    public Resilience4jAnnotation(boolean allowed) {
        this.application = Applications.start(
                "io.github.resilience4j.",
                Map.of(
                        "resilience4j.ratelimiter.configs.quotes.limit-for-period", allowed ? 1_000_000_000 : 1,
                        "resilience4j.ratelimiter.configs.quotes.limit-refresh-period", allowed ? "1s" : "1d",
                        "resilience4j.ratelimiter.configs.quotes.timeout-duration", "0s"),
                LimitedQuotes.class);
        this.quotes = application.getBean(Quotes.class);
    }

    @Override
    public String name() {
        return "Resilience4j";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        try {
            sink.consume(quotes.quote(key));
            return true;
        } catch (RequestNotPermitted rejection) {
            sink.consume(rejection);
            return false;
        }
    }

    @Override
    public void close() {
        application.close();
    }

    static class LimitedQuotes extends Quotes {

        @Override
        @RateLimiter(name = "#user", configuration = "quotes")
        public String quote(String user) {
            return super.quote(user);
        }
    }
}
