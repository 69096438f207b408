package io.ratelimit.redis.script;

import io.ratelimit.spi.StoreRequest;

/** Lists the kinds of calls that the script decides, with their codes and the length of the reply. */
public enum ScriptCall {

    /** Decides without charging. */
    LOOK('0', 4),

    /** Charges all buckets, or none. */
    CHARGE('1', 4),

    /** Charges with receipts, for charges that may be refunded. */
    CHARGE_WITH_RECEIPTS('2', 8),

    /** Refunds charges by their receipts, or charges without asking, in a run of its own. */
    SETTLE('3', 0),

    /** Charges one bucket with a receipt, and takes more permits in advance. */
    LEASE('4', 9),

    /** Looks at one bucket or changes it, in a run of its own. */
    CHANGE('5', 4),

    /** Charges with receipts a call that holds permits of concurrency limits. */
    HOLD('6', 8),

    /** Releases the permits that a call holds of one bucket. */
    RELEASE('7', 4),

    /** Renews permits that calls hold of one bucket. */
    RENEW('8', 4);

    private final byte code;

    private final int numbers;

    ScriptCall(char code, int numbers) {
        this.code = (byte) code;
        this.numbers = numbers;
    }

    /** Returns the kind of a call that holds no permits. */
    public static ScriptCall of(StoreRequest request) {
        if (request.more() > 0) {
            return LEASE;
        }
        if (request.isPeek()) {
            return LOOK;
        }
        return request.refundable() ? CHARGE_WITH_RECEIPTS : CHARGE;
    }

    public byte code() {
        return code;
    }

    boolean hasReceipts() {
        return numbers > CHARGE.numbers;
    }

    /** Returns how many numbers of the reply belong to each charge. */
    public int numbers() {
        return numbers;
    }

    /** Returns how many numbers of the reply belong to so many charges. */
    public int numbers(int charges) {
        return numbers * charges;
    }
}
