package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.web.StructuredFields.Item;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reader that other tests hold our fields to. */
class StructuredFieldsTests {

    @Test
    void examplesOfTheDraftAreRead() {
        assertThat(StructuredFields.list("\"permin\";q=50;w=60,\"perhr\";q=1000;w=3600"))
                .isEqualTo(List.of(
                        new Item("permin", Map.of("q", 50L, "w", 60L)),
                        new Item("perhr", Map.of("q", 1000L, "w", 3600L))));
        assertThat(StructuredFields.list(" \"a\\\"b\";  x ,\t-12 "))
                .isEqualTo(List.of(new Item("a\"b", Map.of("x", true)), new Item(-12L, Map.of())));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "quotes;q=1",
                "\"quotes",
                "\"quotes\";q=",
                "\"quotes\";q=1.0",
                "\"quotes\";q=1E3",
                "\"quotes\";q=+1",
                "\"quotes\";q=1234567890123456",
                "\"quotes\";Q=1",
                "\"quotes\" ;q=1",
                "\"quotes\";q =1",
                "\"quotes\";q= 1",
                "\"quotes\";q=1;q=2",
                "\"quotes\";q=1,",
                "\"quotes\";q=1 \"others\"",
                "\"qüotes\"",
                "\"quo\\tes\"",
                "'quotes'",
            })
    void whatIsNoneIsRefused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> StructuredFields.list(text));
    }
}
