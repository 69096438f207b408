package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.TextWebSocketHandler;

/** Limits messages and open connections by code. */
@Component
public class Greeter extends TextWebSocketHandler {

    private final RateLimiterRegistry registry;

    private final Map<String, RateLimiter.Entry> entries = new ConcurrentHashMap<>();

    public Greeter(RateLimiterRegistry registry) {
        this.registry = registry;
    }

    @Bean
    static RateLimit greetings() {
        return RateLimit.named("greetings").rate("1/d").build();
    }

    @Bean
    static RateLimit connections() {
        return RateLimit.named("connections")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(1)
                .build();
    }

    @Override
    public void afterConnectionEstablished(WebSocketSession session) throws IOException {
        String user = session.getHandshakeHeaders().getFirst("X-User");
        try {
            entries.put(session.getId(), registry.get("connections").enter(user));
        } catch (RateLimitExceededException ex) {
            session.close(CloseStatus.POLICY_VIOLATION);
        }
    }

    @Override
    public void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
        RateLimiter.Entry entry = entries.remove(session.getId());
        if (entry != null) {
            entry.close();
        }
    }

    @Override
    protected void handleTextMessage(WebSocketSession session, TextMessage message) throws IOException {
        boolean allowed = registry.get("greetings").tryAcquire(session.getId()).allowed();
        session.sendMessage(new TextMessage(allowed ? "hello " + message.getPayload() : "slow down"));
    }
}
