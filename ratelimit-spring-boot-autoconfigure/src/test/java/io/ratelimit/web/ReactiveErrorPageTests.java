package io.ratelimit.web;

import static io.ratelimit.web.ServletRequestApplication.ANY;
import static io.ratelimit.web.ServletRequestApplication.and;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On Netty. */
@LongRunning
class ReactiveErrorPageTests extends ErrorPageContract {

    @Override
    void with(String[] properties, Consumer<RawHttp> test) {
        ReactiveRequestLimitTests.with(properties, app -> test.accept(app.http));
    }

    /** Spring would answer with a part of the page, and the status of that. */
    @ParameterizedTest
    @ValueSource(strings = {"bytes=0-3", "bytes=999-"})
    void callerThatWantsAPartReadsTheProblem(String range) {
        with(
                and(ANY, VIEW_429),
                http -> assertThat(rejection(http, "/any", BROWSER, "Range: " + range))
                        .startsWith("HTTP/1.1 429")
                        .contains("quota-exceeded"));
    }
}
