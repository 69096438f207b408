package com.acme;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import reactor.core.publisher.Mono;

/** A gateway before a service of the suite. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Bean
    KeyResolver apiKey() {
        return exchange -> Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Api-Key"));
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }
}
