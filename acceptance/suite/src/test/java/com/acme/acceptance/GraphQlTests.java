package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Fields of GraphQL, over HTTP. */
class GraphQlTests {

    private static final Application APPLICATION = Application.start("graphql");

    @Test
    void aRejectedFieldIsAnErrorOfItsOwn() {
        String query = "{ quote(user: \\\"" + UUID.randomUUID() + "\\\") other }";
        assertThat(GraphQlTests.<String>answer(query, "$.data.quote")).isEqualTo("42");
        String rejected = ask(query);
        assertThat(JsonPath.<String>read(rejected, "$.data.other")).isEqualTo("43");
        assertThat(JsonPath.<List<String>>read(rejected, "$.errors[0].path")).containsExactly("quote");
        assertThat(JsonPath.<String>read(rejected, "$.errors[0].extensions.classification"))
                .isEqualTo("RATE_LIMITED");
        assertThat(JsonPath.<Integer>read(rejected, "$.errors[0].extensions.retryAfter"))
                .isBetween(86_000, 86_400);
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException");
    }

    @Test
    void aFieldWithoutItsKeyIsABadRequest() {
        assertThat(GraphQlTests.<String>answer("{ quote }", "$.errors[0].extensions.classification"))
                .isEqualTo("BAD_REQUEST");
    }

    @Test
    void aPermitIsHeldUntilTheFutureCompletes() throws Exception {
        CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> answer("{ held }", "$.data.held"));
        Await.until("the first call", () -> GraphQlTests.<Integer>answer("{ holding }", "$.data.holding") == 1);
        assertThat(GraphQlTests.<String>answer("{ held }", "$.errors[0].extensions.classification"))
                .isEqualTo("RATE_LIMITED");
        assertThat(GraphQlTests.<Boolean>answer("mutation { release }", "$.data.release"))
                .isTrue();
        assertThat(first.get(60, TimeUnit.SECONDS)).isEqualTo("42");
        CompletableFuture<String> second = CompletableFuture.supplyAsync(() -> answer("{ held }", "$.data.held"));
        Await.until("the second call", () -> answer("mutation { release }", "$.data.release"));
        assertThat(second.get(60, TimeUnit.SECONDS)).isEqualTo("42");
    }

    private static <T> T answer(String query, String jsonPath) {
        return JsonPath.read(ask(query), jsonPath);
    }

    private static String ask(String query) {
        return APPLICATION
                .send("POST", "/graphql", "{\"query\": \"" + query + "\"}")
                .body();
    }
}
