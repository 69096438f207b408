package com.example;

import io.ratelimit.annotation.RateLimited;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;

@SpringBootApplication
@RestController
public class LlmProxy {

    @Value("${provider.url}/v1/chat/completions")
    String provider;

    @Value("${provider.key}")
    String key;

    public static void main(String[] args) {
        SpringApplication.run(LlmProxy.class, args);
    }

    /** Charged an estimate first, and at its end, whichever way it ends, the tokens that it has used. */
    @PostMapping(path = "/v1/chat/completions", produces = "text/event-stream")
    @RateLimited(name = "user-minute", keyExpression = "@budgets.user(header('Authorization'))",
            permits = "@budgets.estimate(#request)", permitsAfter = "@usedTokens")
    @RateLimited(name = "user-model-day",
            keyExpression = "@budgets.userAndModel(header('Authorization'), #request['model'])",
            planExpression = "#request['model']",
            permits = "@budgets.estimate(#request)", permitsAfter = "@usedTokens")
    public Flux<String> chat(@RequestBody Map<String, Object> request) {
        request.putAll(Map.of("stream", true, "stream_options", Map.of("include_usage", true)));
        return WebClient.create(provider).post().headers(headers -> headers.setBearerAuth(key))
                .bodyValue(request).retrieve().bodyToFlux(String.class);
    }
}
