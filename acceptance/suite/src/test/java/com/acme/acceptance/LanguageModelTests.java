package com.acme.acceptance;

import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A chat client of Spring AI, in each of its generations. */
class LanguageModelTests {

    private static final Application APPLICATION = Application.start("language-model");

    private final String user = UUID.randomUUID().toString();

    @Test
    void aCallCostsWhatTheModelHasUsed() {
        APPLICATION.allowed("/ask/" + user);
        APPLICATION.allowed("/ask/" + user);
        APPLICATION.rejected("tokens", "/ask/" + user);
    }

    @Test
    void aStreamCostsWhatTheModelHasUsedAndReleasesItsPermit() {
        APPLICATION.allowed("/stream/" + user);
        APPLICATION.allowed("/stream/" + user);
        APPLICATION.rejected("tokens", "/stream/" + user);
    }
}
