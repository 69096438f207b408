package io.ratelimit.redis;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Says charges in the script's arguments, and reads its replies. */
final class ScriptLanguage {

    private static final byte[] YES = {'1'};

    private static final byte[] NO = {'0'};

    /** How many arguments the script wants for each charge. */
    private static final int ARGUMENTS = 5;

    /** How many numbers it replies for each, and how many more with receipts. */
    private static final int NUMBERS = 4;

    private static final int RECEIPT = 3;

    /** The arguments of a limit's charges, all but the permits. */
    private final Map<RateLimit, byte[][]> rules = new ConcurrentHashMap<>();

    byte[][] arguments(ScriptCall call, List<Charge> charges) {
        byte[][] arguments = new byte[1 + ARGUMENTS * charges.size()][];
        arguments[0] = call.code();
        int at = 1;
        for (Charge charge : charges) {
            System.arraycopy(rule(charge.limit()), 0, arguments, at, ARGUMENTS);
            arguments[at + 1] = permits(charge);
            at += ARGUMENTS;
        }
        return arguments;
    }

    /** @param receipts one for each charge */
    byte[][] giveBackArguments(List<Charge> charges, List<Receipt> receipts) {
        byte[][] arguments = arguments(ScriptCall.GIVE_BACK, charges);
        int at = 1;
        for (Receipt receipt : receipts) {
            arguments[at + 2] = encode(receipt.used());
            arguments[at + 3] = encode(receipt.since());
            arguments[at + 4] = encode(receipt.rest());
            at += ARGUMENTS;
        }
        return arguments;
    }

    /** @throws RateLimitStoreException if the reply is not one to these charges, with receipts */
    ReceiptedCall receiptedCall(List<Charge> charges, List<Long> reply) {
        if (reply.size() != (NUMBERS + RECEIPT) * charges.size()) {
            throw mismatch(reply);
        }
        List<Receipt> receipts = new ArrayList<>(charges.size());
        for (int at = NUMBERS; at < reply.size(); at += NUMBERS + RECEIPT) {
            receipts.add(new Receipt(reply.get(at), reply.get(at + 1), reply.get(at + 2)));
        }
        return new ReceiptedCall(charges, decisions(charges, reply), receipts);
    }

    /** @throws RateLimitStoreException if the reply is not one to these charges */
    List<RateLimitDecision> decisions(List<Charge> charges, List<Long> reply) {
        int numbers = reply.size() / charges.size();
        if (reply.size() % charges.size() != 0 || (numbers != NUMBERS && numbers != NUMBERS + RECEIPT)) {
            throw mismatch(reply);
        }
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        int at = 0;
        for (Charge charge : charges) {
            decisions.add(RateLimitDecision.ofMicros(
                    charge.limit().capacity(), reply.get(at), reply.get(at + 1), reply.get(at + 2), reply.get(at + 3)));
            at += numbers;
        }
        return decisions;
    }

    private static RateLimitStoreException mismatch(List<Long> reply) {
        return new RateLimitStoreException(Reason.ERROR, "Redis: the reply has " + reply.size() + " numbers", null);
    }

    private byte[][] rule(RateLimit limit) {
        byte[][] known = rules.get(limit);
        return known != null ? known : rules.computeIfAbsent(limit, ScriptLanguage::encodeRule);
    }

    private static byte[][] encodeRule(RateLimit limit) {
        return new byte[][] {
            RuleText.of(limit).getBytes(StandardCharsets.US_ASCII),
            YES,
            encode(limit.maxWait().toNanos() / 1_000),
            limit.algorithm() == Algorithm.LEAKY_BUCKET ? YES : NO,
            limit.dryRun() ? NO : YES
        };
    }

    /** More than the capacity is too much, however much it is; the script's numbers end at 2^53. */
    private static byte[] permits(Charge charge) {
        return charge.permits() == 1
                ? YES
                : encode(Math.min(charge.permits(), charge.limit().capacity() + 1));
    }

    private static byte[] encode(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }
}
