package io.ratelimit.benchmarks.memory;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.benchmarks.race.Applications;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.util.Map;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** This starter: the annotation in a whole application, counting in memory. */
public final class OurAnnotation implements Contestant {

    private final String name;

    private final ConfigurableApplicationContext application;

    private final Quotes quotes;

    private OurAnnotation(String name, Class<?>... beans) {
        this.name = name;
        this.application = Applications.start("io.ratelimit.", Map.of("ratelimit.store", "in-memory"), beans);
        this.quotes = application.getBean(Quotes.class);
    }

    public static OurAnnotation withoutMetrics(boolean allowed) {
        return new OurAnnotation("this starter", quotes(allowed));
    }

    public static OurAnnotation withMetrics(boolean allowed) {
        return new OurAnnotation("this starter, with Micrometer", quotes(allowed), Metrics.class);
    }

    private static Class<? extends Quotes> quotes(boolean allowed) {
        return allowed ? PlentifulQuotes.class : ExhaustedQuotes.class;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        try {
            sink.consume(quotes.quote(key));
            return true;
        } catch (RateLimitExceededException rejection) {
            sink.consume(rejection);
            return false;
        }
    }

    @Override
    public void close() {
        application.close();
    }

    static class PlentifulQuotes extends Quotes {

        @Override
        @RateLimited(
                name = "quotes",
                capacity = Quota.PLENTY_CAPACITY,
                rate = Quota.PLENTY_RATE,
                keyExpression = "#user")
        public String quote(String user) {
            return super.quote(user);
        }
    }

    static class ExhaustedQuotes extends Quotes {

        @Override
        @RateLimited(name = "quotes", capacity = 1, rate = Quota.ONCE_A_DAY_RATE, keyExpression = "#user")
        public String quote(String user) {
            return super.quote(user);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Metrics {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }
}
