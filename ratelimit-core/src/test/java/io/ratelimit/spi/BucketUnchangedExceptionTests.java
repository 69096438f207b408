package io.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.store.BucketUnchangedException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BucketUnchangedExceptionTests {

    @ParameterizedTest
    @ValueSource(strings = {"Redis: no connection yet", "Redis: no connection yet."})
    void messageSaysInASentenceThatNothingWasChanged(String message) {
        RateLimitStoreException failure = new RateLimitStoreException(Reason.UNREACHABLE, message, null);
        assertThat(new BucketUnchangedException(failure)).hasMessage("Redis: no connection yet. Nothing was changed.");
    }
}
