package com.acme;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;

/** Requests of RSocket with limits. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println("listening on "
                + event.getApplicationContext().getEnvironment().getProperty("local.rsocket.server.port"));
    }
}
