package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The endpoint of applications that permit changes, and share a Redis. */
class EndpointTests {

    private static final String PATH = "/actuator/ratelimits/changed";

    private final String key = UUID.randomUUID().toString();

    static Stream<Application> applications() {
        return Stream.of(Application.SERVLET, Application.REACTIVE);
    }

    @ParameterizedTest
    @MethodSource("applications")
    void aLimitIsChangedOnBothApplications(Application application) {
        HttpResponse<String> changed = application.send("POST", PATH, "{\"capacity\": 3, \"duration\": \"1h\"}");
        assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
        assertThat(JsonPath.<Integer>read(changed.body(), "$.capacity")).isEqualTo(3);
        applications().forEach(each -> Await.until(
                "the override", () -> each.<Integer>json(PATH, "$.capacity") == 3));

        assertThat(application.send("DELETE", PATH, "").statusCode()).isEqualTo(200);
        applications().forEach(each -> Await.until(
                "the configured limit", () -> each.<Integer>json(PATH, "$.capacity") == 2));
    }

    @ParameterizedTest
    @MethodSource("applications")
    void anInvalidChangeIsABadRequest(Application application) {
        HttpResponse<String> refused = application.send("POST", PATH, "{\"capacity\": \"many\"}");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(JsonPath.<String>read(refused.body(), "$.detail"))
                .isEqualTo("capacity must be a whole number (was \"many\").");
        assertThat(application.send("POST", PATH, "{\"capasity\": 3}").body()).contains("did you mean 'capacity'?");
    }
}
