package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A resource of JAX-RS, whose rejections the mapper of docs/protocols.md answers. */
class JerseyTests {

    private static final Application APPLICATION = Application.start("jersey");

    @Test
    void aRejectedCallIsAProblemWithTheTimeToWait() {
        assertThat(APPLICATION.allowed("/quotes/alice").body()).isEqualTo("42");
        HttpResponse<String> rejection = APPLICATION.get("/quotes/alice");
        assertThat(rejection.statusCode()).as(rejection.body()).isEqualTo(429);
        assertThat(rejection.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(rejection.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(86_000L, 86_400L);
        assertThat(rejection.body()).isEqualTo("{\"status\": 429, \"title\": \"Too Many Requests\"}");
        APPLICATION.allowed("/quotes/bob");
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException");
    }

    @Test
    void theMapperIsThatOfThePage() throws IOException {
        Path acceptance = Path.of(System.getProperty("acceptance.directory"));
        String mapper = Files.readString(acceptance.resolve("jersey/src/main/java/com/acme/RejectionMapper.java"));
        assertThat(Files.readString(acceptance.resolve("../docs/protocols.md")))
                .contains(mapper.substring(mapper.indexOf("@Provider")));
    }
}
