package io.ratelimit.actuate;

import org.springframework.boot.WebApplicationType;

class ReactiveEndpointTests extends EndpointContract {

    ReactiveEndpointTests() {
        super(WebApplicationType.REACTIVE);
    }
}
