package io.ratelimit.test.reactive;

import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.test.web.reactive.server.WebTestClient;

@WebFluxTest(ReactiveQuoteController.class)
@AutoConfigureRateLimits
class ReactiveQuoteControllerTests {

    @Autowired
    WebTestClient client;

    @Autowired
    MutableTimeSource time;

    @Test
    void twoQuotesAMinute() {
        quote(200);
        quote(200);
        quote(429);
        time.advance(Duration.ofSeconds(30));
        quote(200);
    }

    private void quote(int status) {
        client.get().uri("/quotes").exchange().expectStatus().isEqualTo(status);
    }
}
