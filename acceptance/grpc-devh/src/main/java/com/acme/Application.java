package com.acme;

import net.devh.boot.grpc.server.event.GrpcServerStartedEvent;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.event.EventListener;

/** A service of gRPC with limits, by the starter of net.devh. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Read by the suite. */
    @EventListener
    public void started(GrpcServerStartedEvent event) {
        System.out.println("listening on " + event.getPort());
    }
}
