package io.ratelimit.web.client;

import io.ratelimit.spi.TimeSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;

/** Knows how long remote hosts have asked not to be called, by the {@code Retry-After} of a 429 or 503. */
final class RemotePauses {

    /** Keys that are paused at once. A further one is not paused. */
    static final int MOST = 10_000;

    private final Map<String, Long> ends = new ConcurrentHashMap<>();

    private final TimeSource clock;

    RemotePauses(TimeSource clock) {
        this.clock = clock;
    }

    /** Returns the time in microseconds until calls with the key may be sent; 0 if they may be sent now. */
    long left(String key) {
        Long end = ends.get(key);
        if (end == null) {
            return 0;
        }
        long left = end - clock.micros();
        if (left > 0) {
            return left;
        }
        ends.remove(key, end);
        return 0;
    }

    /** Pauses calls with the key if the response asks for it. Of several pauses, the one that ends last applies. */
    void responded(String key, HttpStatusCode status, HttpHeaders headers) {
        if (status.value() != 429 && status.value() != 503) {
            return;
        }
        long now = clock.micros();
        long micros = RetryAfter.micros(headers, now);
        if (micros > 0 && hasRoom(key, now)) {
            ends.merge(key, now + micros, Math::max);
        }
    }

    private boolean hasRoom(String key, long now) {
        if (ends.size() >= MOST && !ends.containsKey(key)) {
            ends.values().removeIf(end -> end <= now);
        }
        return ends.size() < MOST || ends.containsKey(key);
    }
}
