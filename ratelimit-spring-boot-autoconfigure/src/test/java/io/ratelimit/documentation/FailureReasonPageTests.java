package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException.Reason;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A reason that the health or the log shows is on the page for the engineer on call. */
class FailureReasonPageTests {

    /** What calls are told while the first failure of an outage goes on, and a context that closes: nothing to look up. */
    private static final Set<Reason> NOT_SHOWN = EnumSet.of(Reason.SHORT_CIRCUITED, Reason.CLOSED);

    @Test
    void everyReasonIsExplained() {
        assertThat(MarkdownPage.of("docs/on-call.md").code())
                .containsAll(EnumSet.complementOf(EnumSet.copyOf(NOT_SHOWN)).stream()
                        .map(reason -> reason.name().toLowerCase(Locale.ROOT))
                        .toList());
    }
}
