package io.ratelimit.actuate;

import org.springframework.boot.WebApplicationType;

class ServletEndpointTests extends EndpointContract {

    ServletEndpointTests() {
        super(WebApplicationType.SERVLET);
    }
}
