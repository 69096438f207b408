package io.ratelimit.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.Scope;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

/** Contexts with a common parent, or one after the other, as a {@code SpringApplicationBuilder} starts them. */
abstract class ContextFamily {

    ConfigurableApplicationContext last;

    @AfterEach
    void close() {
        for (var context = last; context != null; context = (ConfigurableApplicationContext) context.getParent()) {
            context.close();
        }
    }

    void quote() {
        last.getBean(Quotes.class).quote();
    }

    RateLimiter limiter(String name) {
        return last.getBean(RateLimiterRegistry.class).get(name);
    }

    static SpringApplicationBuilder parent(Class<?> source) {
        return new SpringApplicationBuilder(source)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false);
    }

    static SpringApplicationBuilder family(Class<?> parent, Class<?> child) {
        return parent(parent).child(child).web(WebApplicationType.NONE);
    }

    void run(SpringApplicationBuilder builder, String... properties) {
        String[] arguments =
                Arrays.stream(properties).map(property -> "--" + property).toArray(String[]::new);
        last = builder.run(all(arguments));
    }

    static String[] all(String... arguments) {
        String store = String.join(" ", arguments).contains("--ratelimit.store=") ? "" : "--ratelimit.store=in-memory";
        return Stream.concat(
                        Stream.of(store, "--spring.main.banner-mode=off", "--server.port=0")
                                .filter(argument -> !argument.isEmpty()),
                        Arrays.stream(arguments))
                .toArray(String[]::new);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Quotes.class})
    static class WithQuotes {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, OtherQuotes.class})
    static class WithOtherQuotes {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, JointQuotes.class})
    static class WithJointQuotes {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Exports.class})
    static class WithExports {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Window.class})
    static class WithWindow {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Unannotated.class})
    static class WithUnannotated {}

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WithRateLimitBean {

        @Bean
        RateLimit limitOfChild() {
            return RateLimit.named("of-child").rate("1/h").build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WithConcurrency {

        @Bean
        RateLimit running() {
            return RateLimit.named("running")
                    .algorithm(Algorithm.CONCURRENCY)
                    .capacity(1)
                    .maxWait(Duration.ofHours(1))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, RecordingListener.class})
    static class WithMeters {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WithRedis {

        @Bean
        RateLimitScriptExecutor executor() {
            return new FailingScriptExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    @EnableAutoConfiguration
    static class Web {}

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/h")
        public void quote() {}
    }

    static class OtherQuotes {

        @RateLimited(name = "quotes", rate = "2/h")
        public void quote() {}
    }

    static class JointQuotes {

        @RateLimited(name = "quotes", rate = "1/h")
        @RateLimited(name = "of-each", rate = "1/h", scope = Scope.INSTANCE, blockFor = "1m")
        public void quote() {}
    }

    static class Exports {

        @RateLimited(name = "exports", rate = "1/h")
        public void export() {}
    }

    static class Window {

        private int calls;

        @RateLimited(name = "window", algorithm = Algorithm.FIXED_WINDOW, rate = "5/h")
        public int call() {
            return ++calls;
        }
    }

    static class Unannotated {

        public void call() {}
    }

    static class Changes {

        final List<String> heard = new CopyOnWriteArrayList<>();

        @EventListener
        void changed(RateLimitChangedEvent event) {
            heard.add(event.change());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Changes.class})
    static class WithChanges {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitsEndpointAutoConfiguration.class)
    @Import(WithQuotes.class)
    static class WithEndpoint {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitsEndpointAutoConfiguration.class)
    @Import(WithExports.class)
    static class WithEndpointAndExports {}
}
