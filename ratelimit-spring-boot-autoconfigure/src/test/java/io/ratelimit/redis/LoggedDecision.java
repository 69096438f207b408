package io.ratelimit.redis;

import io.ratelimit.RateLimitDecision;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** What a call asked for and was told, when, and which call it was on the server. */
record LoggedDecision(long number, long micros, long permits, RateLimitDecision decision) {

    void write(DataOutputStream out) throws IOException {
        out.writeLong(number);
        out.writeLong(micros);
        out.writeLong(permits);
        out.writeBoolean(decision.allowed());
        out.writeLong(decision.capacity());
        out.writeLong(decision.remaining());
        for (Duration duration : new Duration[] {decision.delay(), decision.retryAfter(), decision.resetAfter()}) {
            out.writeLong(duration == null ? -1 : duration.toNanos());
        }
    }

    /** Until the other side has said all. */
    static void readAll(DataInputStream in, List<LoggedDecision> log) throws IOException {
        while (true) {
            long number;
            try {
                number = in.readLong();
            } catch (EOFException ex) {
                return;
            }
            log.add(new LoggedDecision(
                    number,
                    in.readLong(),
                    in.readLong(),
                    new RateLimitDecision(
                            in.readBoolean(),
                            in.readLong(),
                            in.readLong(),
                            duration(in.readLong()),
                            duration(in.readLong()),
                            duration(in.readLong()))));
        }
    }

    private static Duration duration(long nanos) {
        return nanos < 0 ? null : Duration.ofNanos(nanos);
    }
}
