package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.ProcessedMethods;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.SpringProperties;

/** An application with a limit of every kind, each of one call. */
public final class AotApplication {

    static final String[] LIMITS = {
        "annotation", "bean", "configured", "expressions", "fallback", "interface", "lambda", "meta", "type"
    };

    private AotApplication() {}

    public static void main(String[] arguments) {
        SpringApplication.run(Application.class, arguments);
    }

    /** Starts the application from its generated code, and returns the limits that do not reject a second call. */
    public static List<String> run(String... arguments) {
        SpringProperties.setFlag("spring.aot.enabled");
        SpringApplication application = new SpringApplication(Application.class);
        application.setMainApplicationClass(AotApplication.class);
        try (ConfigurableApplicationContext context = application.run(arguments)) {
            if (context.containsBean(
                    "org.springframework.context.annotation.internalConfigurationAnnotationProcessor")) {
                return List.of("not started from generated code");
            }
            if (!context.getBean(ProcessedMethods.class).signatures().contains("quotes:annotated()")) {
                return List.of("limited methods may be missing at start-up");
            }
            List<String> unlimited = new ArrayList<>();
            for (String limit : LIMITS) {
                call(context, limit);
                if (!call(context, limit).equals("rejected")) {
                    unlimited.add(limit);
                }
            }
            return unlimited;
        }
    }

    private static String call(ConfigurableApplicationContext context, String limit) {
        Quotes quotes = context.getBean(Quotes.class);
        Supplier<String> call = switch (limit) {
            case "annotation" -> quotes::annotated;
            case "bean" ->
                () -> context.getBean(RateLimiterRegistry.class)
                                .get("bean")
                                .tryAcquire("alice")
                                .allowed()
                        ? ""
                        : "rejected";
            case "configured" -> () -> context.getBean(Matched.class).configured();
            case "expressions" -> () -> quotes.expressions(new Order(new Customer("alice")));
            case "fallback" -> () -> quotes.withFallback("alice");
            case "interface" -> () -> context.getBean(Contract.class).declared();
            case "lambda" -> () -> context.getBean(Lambda.class).apply("alice");
            case "meta" -> quotes::meta;
            default -> () -> context.getBean(OfType.class).ofType();
        };
        try {
            return call.get();
        } catch (RateLimitExceededException ex) {
            return "rejected";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        RateLimit limit() {
            return RateLimit.named("bean").capacity(1).rate("1/h").build();
        }

        @Bean
        Quotes quotes() {
            return new Quotes();
        }

        @Bean
        Implementation contract() {
            return new Implementation();
        }

        @Bean
        Lambda lambda() {
            return user -> user;
        }

        @Bean
        OfType ofType() {
            return new OfType();
        }

        @Bean
        Matched matched() {
            return new Matched();
        }

        @Bean
        Tenants tenants() {
            return new Tenants();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(name = "meta", rate = "1/h")
    @interface Hourly {}

    static class Quotes {

        @RateLimited(rate = "${quotes.rate}")
        public String annotated() {
            return "";
        }

        @Hourly
        public String meta() {
            return "";
        }

        @RateLimited(
                name = "expressions",
                rate = "1/h",
                keyExpression = "@tenants.of(#order.customer.name)",
                condition = "#order.customer.name.length() > 0")
        public String expressions(Order order) {
            return "";
        }

        @RateLimited(name = "fallback", rate = "1/h", fallbackMethod = "rejected")
        public String withFallback(String user) {
            return "";
        }

        String rejected(String user, RateLimitExceededException ex) {
            return "rejected";
        }
    }

    interface Contract {

        @RateLimited(name = "interface", rate = "1/h")
        String declared();
    }

    static class Implementation implements Contract {

        @Override
        public String declared() {
            return "";
        }
    }

    @FunctionalInterface
    interface Lambda {

        @RateLimited(name = "lambda", rate = "1/h", keyExpression = "#user")
        String apply(String user);
    }

    @RateLimited(name = "type", rate = "1/h")
    static class OfType {

        public String ofType() {
            return "";
        }
    }

    static class Matched {

        public String configured() {
            return "";
        }
    }

    static class Tenants {

        public String of(String user) {
            return user;
        }
    }

    record Order(Customer customer) {}

    record Customer(String name) {}
}
