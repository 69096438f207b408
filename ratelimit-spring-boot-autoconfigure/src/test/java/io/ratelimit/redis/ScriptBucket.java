package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A bucket that is asked through the script itself, so that what was taken can be given back. */
final class ScriptBucket {

    private final List<byte[]> names = List.of(RedisUnderTest.newPrefix().getBytes(StandardCharsets.US_ASCII));

    private final ScriptLanguage language = new ScriptLanguage();

    private final RateLimitScriptExecutor executor;

    private List<Charge> taken = List.of();

    private List<Receipt> receipts = List.of();

    ScriptBucket(RateLimitScriptExecutor executor) {
        this.executor = executor;
    }

    RateLimitDecision look(RateLimit limit, long permits) {
        return run(ScriptCall.LOOK, limit, permits);
    }

    RateLimitDecision take(RateLimit limit, long permits) {
        return run(ScriptCall.CHARGE, limit, permits);
    }

    /** What {@link #giveBack} is to give back. */
    RateLimitDecision takeForAMoment(RateLimit limit, long permits) {
        taken = List.of(new Charge(limit, null, permits));
        ReceiptedCall call = language.receiptedCall(
                taken, executor.execute(names, language.arguments(ScriptCall.CHARGE_WITH_RECEIPTS, taken)));
        receipts = call.receipts();
        return call.decisions().get(0);
    }

    void giveBack() {
        executor.execute(names, language.giveBackArguments(taken, receipts));
    }

    void reset() {
        executor.delete(names.get(0));
    }

    private RateLimitDecision run(ScriptCall call, RateLimit limit, long permits) {
        List<Charge> charges = List.of(new Charge(limit, null, permits));
        return language.decisions(charges, executor.execute(names, language.arguments(call, charges)))
                .get(0);
    }
}
