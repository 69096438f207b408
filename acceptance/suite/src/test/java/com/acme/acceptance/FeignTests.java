package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A client of Spring Cloud OpenFeign, whose calls to a server of this test are limited, with a fallback. */
class FeignTests {

    @Test
    void aCallIsChargedOnceThoughTheFallbackAnswersIt() throws IOException {
        HttpServer partner = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        partner.createContext("/rate", exchange -> {
            byte[] body = "1.1".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        partner.start();
        Application application = Application.start(
                "feign", "partner=http://127.0.0.1:" + partner.getAddress().getPort());
        assertThat(application.allowed("/rate").body()).isEqualTo("1.1");
        partner.stop(0);
        assertThat(application.allowed("/rate").body()).isEqualTo("none");
        assertThat(application.allowed("/rate").body()).isEqualTo("none");
        HttpResponse<String> rejection = application.get("/rate");
        assertThat(rejection.statusCode()).as(rejection.body()).isEqualTo(503);
        assertThat(rejection.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(28_000L, 28_800L);
        assertThat(rejection.body()).doesNotContain("violated-policies");
        assertThat(application.log()).doesNotContain("OutboundRateLimitExceededException");
    }
}
