package com.acme;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.ai.RateLimitAdvisor;
import java.util.List;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;

/** A chat client of Spring AI with limits. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Each call has an estimate of 4 tokens and uses 10 of 20. */
    @Bean
    ChatClient chatClient(RateLimiterRegistry registry) {
        return ChatClient.builder(new FakeModel())
                .defaultAdvisors(RateLimitAdvisor.of(registry, request -> {
                    String user = (String) request.context().get("user");
                    return List.of(
                            new PermitRequest("answers", user),
                            new PermitRequest("tokens", user, 4).asEstimate());
                }))
                .build();
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }
}
