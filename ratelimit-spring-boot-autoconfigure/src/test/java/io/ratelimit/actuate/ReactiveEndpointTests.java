package io.ratelimit.actuate;

import io.ratelimit.testing.LongRunning;
import org.springframework.boot.WebApplicationType;

@LongRunning
class ReactiveEndpointTests extends EndpointContract {

    ReactiveEndpointTests() {
        super(WebApplicationType.REACTIVE);
    }
}
