package com.acme;

import io.ratelimit.annotation.RateLimited;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import org.springframework.stereotype.Component;

@Component
@Path("/quotes/{user}")
public class QuoteResource {

    @GET
    @RateLimited(name = "quotes", rate = "1/d", keyExpression = "clientIp + ' ' + #user")
    public String quote(@PathParam("user") String user) {
        return "42";
    }
}
