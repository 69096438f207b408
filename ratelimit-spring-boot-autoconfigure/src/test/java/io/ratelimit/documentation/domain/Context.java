package io.ratelimit.documentation.domain;

import io.ratelimit.RateLimiterRegistry;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** What the statements of the documentation find where they are. */
@Component
public abstract class Context {

    @Autowired
    protected RateLimiterRegistry registry;

    protected String user = "alice";

    protected String tenant = "acme";

    protected long pages = 3;
}
