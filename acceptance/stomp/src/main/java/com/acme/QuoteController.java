package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.util.concurrent.Semaphore;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.annotation.SendToUser;
import org.springframework.stereotype.Controller;

@Controller
public class QuoteController {

    private static final Semaphore RELEASED = new Semaphore(0);

    /** Tells a session that the broker knows of its subscriptions. */
    @MessageMapping("/ping")
    @SendToUser(
            destinations = {"/queue/answers", "/queue/errors"},
            broadcast = false)
    public String ping() {
        return "pong";
    }

    @MessageMapping("/quote")
    @SendToUser(destinations = "/queue/answers", broadcast = false)
    @RateLimited(name = "quotes", rate = "1/d", keyExpression = "header('user')")
    public String quote() {
        return "42";
    }

    /** Ends when the suite says so. */
    @MessageMapping("/held")
    @SendToUser(destinations = "/queue/answers", broadcast = false)
    @RateLimited(name = "held", algorithm = Algorithm.CONCURRENCY, capacity = 1)
    public String held() {
        RELEASED.acquireUninterruptibly();
        return "released";
    }

    @MessageMapping("/release")
    public void release() {
        RELEASED.release();
    }
}
