package io.ratelimit.benchmarks.race;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Starts Spring Boot applications, each as its user would have it: auto-configured. */
public final class Applications {

    /** The packages of whose rate limiter there is. */
    static final String LIMITER = "benchmark.limiter";

    private Applications() {}

    /**
     * Starts one.
     *
     * @param limiter what the names of the limiter's classes begin with
     * @param beans classes of beans and configurations
     */
    public static ConfigurableApplicationContext start(String limiter, Map<String, ?> properties, Class<?>... beans) {
        Map<String, Object> all = new HashMap<>(properties);
        all.put(LIMITER, limiter);
        return new SpringApplicationBuilder(Stream.concat(Stream.of(AutoConfigured.class), Stream.of(beans))
                        .toArray(Class<?>[]::new))
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .registerShutdownHook(false)
                .properties(all)
                .run();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class AutoConfigured {}
}
