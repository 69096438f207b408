package io.ratelimit.aop.elsewhere;

import io.ratelimit.annotation.RateLimited;

/** Has a method that a proxy of a class in another package does not see. */
public class PackagePrivateBase {

    @RateLimited(rate = "1/h")
    void hidden() {}
}
