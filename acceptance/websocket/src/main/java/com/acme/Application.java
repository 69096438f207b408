package com.acme;

import io.ratelimit.annotation.RateLimited;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.handler.TextWebSocketHandler;
import org.springframework.web.socket.server.HandshakeInterceptor;

/** A plain WebSocket with limits; server-sent events are next to it. */
@SpringBootApplication
@EnableWebSocket
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Bean
    static WebSocketConfigurer sockets(Greeter greeter, Echo echo, Welcome welcome) {
        return registry -> {
            registry.addHandler(greeter, "/socket", "/greeter");
            registry.addHandler(echo, "/echo");
            registry.addHandler(greeter, "/intercepted").addInterceptors(welcome);
        };
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }

    /** Limited where the page does not recommend it. */
    @Component
    public static class Echo extends TextWebSocketHandler {

        @Override
        @RateLimited(name = "messages", rate = "1/d", keyExpression = "#session.id")
        public void handleMessage(WebSocketSession session, WebSocketMessage<?> message) throws Exception {
            session.sendMessage(message);
        }
    }

    @Component
    public static class Welcome implements HandshakeInterceptor {

        @Override
        @RateLimited(name = "welcomes", rate = "1/d", keyExpression = "header('X-User')")
        public boolean beforeHandshake(
                ServerHttpRequest request,
                ServerHttpResponse response,
                WebSocketHandler handler,
                Map<String, Object> attributes) {
            return true;
        }

        @Override
        public void afterHandshake(
                ServerHttpRequest request, ServerHttpResponse response, WebSocketHandler handler, Exception failure) {}
    }
}
