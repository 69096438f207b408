package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.samples.Quotes;
import org.springframework.web.method.HandlerMethod;

class WebConfigurationTests {

    /** Petclinic is such an application. */
    @Test
    void handlersOfTheApplicationMayBeInAPackageOfSpring() throws NoSuchMethodException {
        HandlerMethod handler = new HandlerMethod(new Quotes(), "quote");
        assertThat(WebConfiguration.ofApplication(Map.of("/quotes", handler), List::of))
                .containsExactly("/quotes");
    }
}
