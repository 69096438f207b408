package io.ratelimit.redis.script;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decodes and holds the script's reply to one call.
 *
 * @param decisions one for each charge; of a lease, after the permits taken in advance
 * @param receipts one for each charge, if the call wants receipts; of a lease, for all permits together. The receipt of a charge
 *     that took nothing is meaningless
 * @param more the number of permits taken in advance
 */
public record ScriptReply(List<RateLimitDecision> decisions, List<Receipt> receipts, long more) {

    /** The script replies this instead of every number of a call if a value at its keys is not a bucket. */
    private static final long FOREIGN = -1;

    /** The script replies this and the server's time if a limit does not name the calendar window of that time. */
    private static final long UNKNOWN_WINDOW = -2;

    /** The script replies this and text if an algorithm of the application fails. */
    private static final long FAILED = -3;

    private static final int RECEIPT = 4;

    private static final int MORE = 8;

    /** Returns the receipts of the charges that took permits. */
    public Map<Charge, Receipt> taken(StoreOutcome outcome) {
        Map<Charge, Receipt> taken = new HashMap<>();
        for (int i = 0; i < receipts.size(); i++) {
            Charge charge = outcome.charges().get(i);
            if (charge.permits() > 0 && outcome.isCharged(i)) {
                taken.put(charge, receipts.get(i));
            }
        }
        return taken;
    }

    /**
     * Decodes the reply to a change.
     *
     * @throws RateLimitStoreException if the reply is too short, or the value at the key is not a bucket
     */
    public static BucketStatus status(RateLimit limit, List<Long> reply) {
        check(ScriptCall.CHANGE, 1, reply, 0);
        return new BucketStatus(limit.capacity(), reply.get(0), micros(reply.get(3)), micros(reply.get(1)));
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /**
     * Decodes the part of a reply that belongs to one call.
     *
     * @param from the index of its first number
     * @throws RateLimitStoreException if the reply is too short, or a value at the keys is not a bucket
     */
    public static List<RateLimitDecision> decisions(ScriptCall call, List<Charge> charges, List<Long> reply, int from) {
        check(call, charges.size(), reply, from);
        if (charges.size() == 1) {
            return List.of(decision(charges.get(0), reply, from));
        }
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        int at = from;
        for (Charge charge : charges) {
            decisions.add(decision(charge, reply, at));
            at += call.numbers();
        }
        return decisions;
    }

    /** Decodes the part of a reply that belongs to one call, with its receipts, as {@link #decisions}. */
    public static ScriptReply of(ScriptCall call, List<Charge> charges, List<Long> reply, int from) {
        List<RateLimitDecision> decisions = decisions(call, charges, reply, from);
        if (!call.hasReceipts()) {
            return new ScriptReply(decisions, List.of(), 0);
        }
        List<Receipt> receipts = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            receipts.add(receipt(reply, from + call.numbers(i)));
        }
        return new ScriptReply(decisions, receipts, call == ScriptCall.LEASE ? reply.get(from + MORE) : 0);
    }

    private static void check(ScriptCall call, int charges, List<Long> reply, int from) {
        if (reply.size() < from + call.numbers(charges)) {
            throw new RateLimitStoreException(
                    Reason.ERROR,
                    "Redis: the reply must have at least " + (from + call.numbers(charges)) + " numbers (was "
                            + reply.size() + ")",
                    null);
        }
        long first = reply.get(from);
        if (first == UNKNOWN_WINDOW || first == FAILED || first == FOREIGN) {
            throw failureOf(first, reply, from + 1);
        }
    }

    /** Decodes which settlements of a run were not made, and why. */
    public static Map<Integer, Throwable> settlementFailures(List<Long> reply) {
        Map<Integer, Throwable> failures = new HashMap<>();
        for (int i = 0; i + 2 < reply.size(); i += 3) {
            failures.put(reply.get(i).intValue(), failureOf(reply.get(i + 1), reply, i + 2));
        }
        return failures;
    }

    /** @param at the index of what the code is about: a time or a text */
    private static RuntimeException failureOf(long code, List<Long> reply, int at) {
        if (code == UNKNOWN_WINDOW) {
            return new UnknownWindowException(reply.get(at));
        }
        return code == FAILED
                ? AlgorithmMistake.of(text(reply, at)).failure(RedisTopology.REDIS, null)
                : new RateLimitStoreException(
                        Reason.FOREIGN_VALUE, "Redis: the value at the key is not a rate limit", null);
    }

    /** The script's only text, as the driver decodes it. */
    private static String text(List<?> reply, int at) {
        return reply.get(at) instanceof byte[] bytes
                ? new String(bytes, StandardCharsets.UTF_8)
                : String.valueOf(reply.get(at));
    }

    private static RateLimitDecision decision(Charge charge, List<Long> reply, int at) {
        return RateLimitDecision.ofMicros(
                charge.limit().capacity(), reply.get(at), reply.get(at + 1), reply.get(at + 2), reply.get(at + 3));
    }

    private static Receipt receipt(List<Long> reply, int at) {
        int from = at + RECEIPT;
        return new Receipt(reply.get(from), reply.get(from + 1), reply.get(from + 2), reply.get(from + 3));
    }
}
