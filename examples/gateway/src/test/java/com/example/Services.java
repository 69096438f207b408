package com.example;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;

/** Stands for the services behind the gateway. As a program, it starts the gateway, too. */
class Services {

    public static void main(String[] args) throws Exception {
        String reports = start(() -> new Semaphore(0).tryAcquire(5, TimeUnit.SECONDS));
        SpringApplication.run(Gateway.class, "--services.orders=" + start(() -> {}), "--services.reports=" + reports);
    }

    static String start(Work work) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(task -> new Thread(task).start());
        server.createContext("/", exchange -> {
            try {
                work.run();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    interface Work {
        void run() throws InterruptedException;
    }
}
