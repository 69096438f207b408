package io.ratelimit.redis;

import io.ratelimit.RateLimitDecision;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** What a call asked for and was told, when, and which call it was on the server. */
record LoggedDecision(long number, long micros, long permits, RateLimitDecision decision) {

    static void writeAll(List<LoggedDecision> log, DataOutputStream out) throws IOException {
        out.writeInt(log.size());
        for (LoggedDecision logged : log) {
            logged.write(out);
        }
        out.flush();
    }

    private void write(DataOutputStream out) throws IOException {
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

    static void readAll(DataInputStream in, List<LoggedDecision> log) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            log.add(new LoggedDecision(
                    in.readLong(),
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
