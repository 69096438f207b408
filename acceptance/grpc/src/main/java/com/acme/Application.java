package com.acme;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.event.EventListener;
import org.springframework.grpc.server.lifecycle.GrpcServerStartedEvent;

/** A service of gRPC with limits. */
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
