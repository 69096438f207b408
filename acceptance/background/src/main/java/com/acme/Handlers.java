package com.acme;

import io.ratelimit.annotation.RateLimited;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.annotation.Poller;
import org.springframework.integration.annotation.ServiceActivator;
import org.springframework.integration.channel.QueueChannel;
import org.springframework.stereotype.Component;

/** Handle messages. The suite reads what they print. */
@Component
public class Handlers {

    @Bean
    static QueueChannel polled() {
        return new QueueChannel();
    }

    @Bean
    static QueueChannel waiting() {
        return new QueueChannel();
    }

    @ServiceActivator(inputChannel = "unlimited")
    public String answer(String text) {
        return text;
    }

    @ServiceActivator(inputChannel = "direct")
    @RateLimited(name = "direct", rate = "1/d")
    public String answerDirectly(String text) {
        return text;
    }

    @ServiceActivator(inputChannel = "polled", poller = @Poller(fixedDelay = "50"))
    @RateLimited(name = "polled", rate = "1/d")
    public void print(String text) {
        System.out.println("polled: " + text);
    }

    @ServiceActivator(inputChannel = "waiting", poller = @Poller(fixedDelay = "50"))
    @RateLimited(name = "waiting", capacity = 1, rate = "4/s", maxWait = "1m")
    public void printLater(String text) {
        System.out.println("waiting: " + text);
    }
}
