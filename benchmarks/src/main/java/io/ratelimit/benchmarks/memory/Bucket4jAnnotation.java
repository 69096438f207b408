package io.ratelimit.benchmarks.memory;

import com.giffing.bucket4j.spring.boot.starter.context.RateLimitException;
import com.giffing.bucket4j.spring.boot.starter.context.RateLimiting;
import io.ratelimit.benchmarks.race.Applications;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.util.HashMap;
import java.util.Map;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;

/** The annotation of Bucket4j's Spring Boot starter, with Caffeine by JCache, set up as its own Caffeine example is. */
public final class Bucket4jAnnotation implements Contestant {

    private static final String BANDWIDTH = "bucket4j.methods[0].rate-limit.bandwidths[0].";

    private final ConfigurableApplicationContext application;

    private final Quotes quotes;

    public Bucket4jAnnotation(Quota quota) {
        Map<String, Object> properties = new HashMap<>(Map.of(
                "spring.cache.type",
                "jcache",
                "spring.cache.jcache.provider",
                "com.github.benmanes.caffeine.jcache.spi.CaffeineCachingProvider",
                "spring.cache.cache-names",
                "buckets",
                "bucket4j.methods[0].name",
                "quotes",
                "bucket4j.methods[0].cache-name",
                "buckets",
                BANDWIDTH + "capacity",
                quota.capacity(),
                BANDWIDTH + "refill-capacity",
                quota.permits(),
                BANDWIDTH + "time",
                quota.period().toSeconds(),
                BANDWIDTH + "unit",
                "seconds"));
        this.application = Applications.start("com.giffing.", properties, LimitedQuotes.class);
        this.quotes = application.getBean(Quotes.class);
    }

    @Override
    public String name() {
        return "Bucket4j's starter";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        try {
            sink.consume(quotes.quote(key));
            return true;
        } catch (RateLimitException rejection) {
            sink.consume(rejection);
            return false;
        }
    }

    @Override
    public void close() {
        application.close();
    }

    @EnableCaching
    static class LimitedQuotes extends Quotes {

        @Override
        @RateLimiting(name = "quotes", cacheKey = "#user")
        public String quote(String user) {
            return super.quote(user);
        }
    }
}
