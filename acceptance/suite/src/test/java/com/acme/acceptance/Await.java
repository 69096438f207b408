package com.acme.acceptance;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Waits for what another process does. */
final class Await {

    private Await() {}

    /** The first value that is not null. */
    static <T> T value(String what, Callable<T> value) {
        return await(what)
                .atMost(Application.PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .until(value, Objects::nonNull);
    }

    static void until(String what, Callable<Boolean> condition) {
        await(what)
                .atMost(Application.PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .until(condition);
    }
}
