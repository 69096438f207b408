package com.acme;

import io.ratelimit.annotation.RateLimited;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What only a servlet application can do: block the thread of the request. */
@RestController
public class ServletController {

    @GetMapping("/blocking-handler")
    @RateLimited(name = "blocking-handler", rate = "2/d", keyExpression = "header('X-Api-Key')")
    public String handler() {
        return "blocking-handler";
    }
}
