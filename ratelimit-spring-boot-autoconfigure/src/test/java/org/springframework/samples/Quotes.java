package org.springframework.samples;

import io.ratelimit.annotation.RateLimited;

/** Of an application in a package of Spring, as Petclinic is one. */
public class Quotes {

    @RateLimited(rate = "1/h")
    public void quote() {}
}
