package io.ratelimit.internal.concurrent;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Lets each subject be logged once a minute. There must be a bounded number of subjects. */
public final class OnceAMinute {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanos;

    /** The time of the last line, by subject. */
    private final Map<String, Long> logged = new ConcurrentHashMap<>();

    /** @param nanos a monotonic clock */
    public OnceAMinute(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Returns whether the subject is to be logged now, and notes that it is. */
    public boolean isDue(String subject) {
        long now = nanos.getAsLong();
        Long last = logged.get(subject);
        if (last == null) {
            return logged.putIfAbsent(subject, now) == null;
        }
        return now - last >= MINUTE && logged.replace(subject, last, now);
    }
}
