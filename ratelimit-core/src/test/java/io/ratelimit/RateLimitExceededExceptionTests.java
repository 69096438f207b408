package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class RateLimitExceededExceptionTests {

    private static final RateLimitDecision LATER = RateLimitDecision.ofMicros(10, 0, 0, 5, 100);

    private static final RateLimitDecision NEVER = RateLimitDecision.ofMicros(10, 10, 0, -1, 0);

    private final RateLimitExceededException one = new RateLimitExceededException("quotes", LATER);

    private final RateLimitExceededException several =
            new RateLimitExceededException(List.of("quotes", "exports"), NEVER, null);

    @Test
    void saysWhichLimitsAndWhy() {
        assertThat(one).hasMessage("Rate limit 'quotes' exceeded");
        assertThat(several)
                .hasMessage("Rate limit 'quotes', 'exports' exceeded: the call asks for more than the capacity of 10");
        assertThat(one.toString()).endsWith("RateLimitExceededException: Rate limit 'quotes' exceeded");
    }

    @Test
    void hasNoStackTrace() {
        assertThat(one.getStackTrace()).isEmpty();
    }

    @Test
    void saysTheSameElsewhere() throws Exception {
        for (RateLimitExceededException rejection : List.of(one, several)) {
            RateLimitExceededException arrived = sent(rejection);
            assertThat(arrived).hasMessage(rejection.getMessage());
            assertThat(arrived.getLimitNames()).isEqualTo(rejection.getLimitNames());
        }
    }

    private static RateLimitExceededException sent(RateLimitExceededException rejection)
            throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(rejection);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (RateLimitExceededException) in.readObject();
        }
    }
}
