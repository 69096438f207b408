package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.KotlinQuotes;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** An application that uses nothing but the rate limiter. */
public final class SmallApplication {

    private SmallApplication() {}

    /** Starts it, calls a limited method twice, and says what came of it. */
    public static String run(String... arguments) {
        try (ConfigurableApplicationContext context =
                new SpringApplication(Small.class, OtherDriver.class, InKotlin.class).run(arguments)) {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice");
            try {
                quotes.quote("alice");
                return "unlimited";
            } catch (RateLimitExceededException ex) {
                return "limited";
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

        @RateLimited(rate = "1/h", keyExpression = "#user")
        public void quote(String user) {}
    }

    /** Apart, because Kotlin may be absent. */
    @Configuration(proxyBeanMethods = false)
    @Profile("kotlin")
    static class InKotlin {

        @Bean
        KotlinQuotes kotlinQuotes() {
            return new KotlinQuotes();
        }
    }

    /** A driver that is not Lettuce, and has no server. */
    @Configuration(proxyBeanMethods = false)
    @Profile("other-driver")
    static class OtherDriver {

        @Bean
        RedisConnectionFactory connections() {
            InvocationHandler unreachable = (proxy, method, args) -> switch (method.getName()) {
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == args[0];
                case "toString" -> "unreachable";
                default -> throw new IllegalStateException("unreachable");
            };
            return (RedisConnectionFactory) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {RedisConnectionFactory.class}, unreachable);
        }
    }
}
