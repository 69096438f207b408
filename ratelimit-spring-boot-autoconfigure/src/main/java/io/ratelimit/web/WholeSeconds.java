package io.ratelimit.web;

import java.time.Duration;

/** Times as HTTP has them: whole seconds, rounded up, so that who waits so long is not early. */
final class WholeSeconds {

    private WholeSeconds() {}

    static long of(Duration time) {
        return time.toSeconds() + (time.toNanosPart() == 0 ? 0 : 1);
    }

    static long ofMicros(long micros) {
        return micros / 1_000_000 + (micros % 1_000_000 == 0 ? 0 : 1);
    }
}
