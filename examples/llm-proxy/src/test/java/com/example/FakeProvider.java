package com.example;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import org.springframework.boot.SpringApplication;

/** Answers with 400 tokens. As a program, it starts the proxy, too. */
class FakeProvider {

    public static void main(String[] args) throws Exception {
        SpringApplication.run(LlmProxy.class, "--provider.url=" + start());
    }

    static String start() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/v1/chat/completions", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(("data: {\"choices\":[{\"delta\":{\"content\":\"42\"}}]}\n\n"
                    + "data: {\"choices\":[],\"usage\":{\"total_tokens\":400}}\n\ndata: [DONE]\n\n").getBytes());
            exchange.close();
        });
        server.start();
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }
}
