package com.acme;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Limited calls without a client: tasks, and messages of Spring Integration. */
@SpringBootApplication
@EnableAsync
@EnableScheduling
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }
}
