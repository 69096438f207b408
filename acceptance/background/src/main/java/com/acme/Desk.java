package com.acme;

import io.ratelimit.annotation.RateLimited;
import org.springframework.integration.annotation.Gateway;
import org.springframework.integration.annotation.MessagingGateway;

/** Sends messages. */
@MessagingGateway
public interface Desk {

    @Gateway(requestChannel = "unlimited")
    @RateLimited(name = "gateway", rate = "1/d")
    String limited(String text);

    @Gateway(requestChannel = "direct")
    String direct(String text);

    @Gateway(requestChannel = "polled")
    void polled(String text);

    @Gateway(requestChannel = "waiting")
    void waiting(String text);
}
