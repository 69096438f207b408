package com.acme;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cloud.openfeign.EnableFeignClients;
import org.springframework.context.event.EventListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application that calls another one by a client of Feign with a fallback. */
@SpringBootApplication
@EnableFeignClients
@RestController
public class Application {

    private final RatesClient rates;

    Application(RatesClient rates) {
        this.rates = rates;
    }

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @GetMapping("/rate")
    public String rate() {
        return rates.rate();
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }
}
