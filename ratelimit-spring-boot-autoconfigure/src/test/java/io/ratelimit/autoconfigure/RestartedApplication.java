package io.ratelimit.autoconfigure;

import io.ratelimit.annotation.RateLimited;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application whose limits use what the starter has: expressions, futures, leases, remembered rejections. */
public final class RestartedApplication {

    private RestartedApplication() {}

    /** Starts it, without Spring Boot's hook, which keeps the thread that has registered it. So does devtools. */
    public static ConfigurableApplicationContext start(String... arguments) {
        return new SpringApplicationBuilder(Small.class)
                .registerShutdownHook(false)
                .run(arguments);
    }

    /** Starts it, calls limited methods, and ends it. */
    public static void run(String... arguments) {
        try (ConfigurableApplicationContext context = start(arguments)) {
            Quotes quotes = context.getBean(Quotes.class);
            for (int call = 0; call < 3; call++) {
                quotes.quote(new Order("alice"));
                quotes.leased();
                quotes.later().exceptionally(rejection -> "").join();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Small {

        @Bean
        Quotes quotes() {
            return new Quotes();
        }
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "100/h", keyExpression = "#order.user")
        public void quote(Order order) {}

        @RateLimited(name = "leased", rate = "100/h")
        public void leased() {}

        @RateLimited(name = "later", rate = "2/h")
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("");
        }
    }

    record Order(String user) {}
}
