package io.ratelimit.internal.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitNamesTests {

    @ParameterizedTest
    @CsvSource({
        "QuoteController, quote-controller",
        "quote, quote",
        "URLShortener, url-shortener",
        "parseXMLFile, parse-xml-file",
        "V2Api, v2-api",
        "Outer$Inner, outer-inner",
        "snake_case, snake-case",
        "ABC, abc",
        "a1B, a1-b"
    })
    void kebabCase(String camelCase, String kebabCase) {
        assertThat(LimitNames.kebabCase(camelCase)).isEqualTo(kebabCase);
    }

    @ParameterizedTest
    @ValueSource(strings = {"quote-limit", "QuoteLimit", "quote_limit", "QUOTE_LIMIT", "quotelimit", "-quote-limit-"})
    void spellingsOfOneName(String name) {
        assertThat(LimitNames.canonical(name)).isEqualTo("quotelimit");
    }

    @Test
    void nearestIsTheOneThatWasProbablyMeant() {
        List<String> known = List.of("quotes", "quote-reports", "exports");
        assertThat(LimitNames.nearest("qoutes", known)).contains("quotes");
        assertThat(LimitNames.nearest("Quotes", known)).contains("quotes");
        assertThat(LimitNames.nearest("quoteReport", known)).contains("quote-reports");
        assertThat(LimitNames.nearest("export", known)).contains("exports");
        assertThat(LimitNames.nearest("payments", known)).isEmpty();
        assertThat(LimitNames.nearest("quotes", List.of())).isEmpty();
        assertThat(LimitNames.nearest("i", List.of("id"))).contains("id");
        assertThat(LimitNames.nearest("l", List.of("m", "ab", "xyz"))).isEmpty();
    }
}
