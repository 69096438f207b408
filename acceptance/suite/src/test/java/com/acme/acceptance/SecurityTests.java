package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules before and after the filter of Spring Security, where Spring Boot puts it. */
class SecurityTests {

    private static final Application APPLICATION = Application.start("security");

    @Test
    void aRuleOfClientsComesBeforeTheLoginAndOneOfUsersAfterIt() {
        assertThat(Stream.of("guess", "secret", "secret", "guess", "guess", "secret")
                        .map(password -> APPLICATION
                                .get("/quote", "Authorization", "Basic " + encoded("alice:" + password))
                                .statusCode()))
                .containsExactly(401, 200, 429, 401, 429, 429);
        APPLICATION.rejected("clients", "/quote");
    }

    private static String encoded(String credentials) {
        return Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }
}
