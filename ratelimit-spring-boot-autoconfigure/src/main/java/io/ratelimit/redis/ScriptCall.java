package io.ratelimit.redis;

/** What a call asks of the script. */
enum ScriptCall {

    /** Changes nothing. */
    LOOK('0', 4),

    /** Charges all, or none. */
    CHARGE('1', 4),

    /** The same, with receipts, for charges that may have to be given back. */
    CHARGE_WITH_RECEIPTS('2', 8),

    /** Gives back what receipts say. Has a run of its own. */
    GIVE_BACK('3', 0),

    /** Charges one, with a receipt, and takes more in advance. */
    LEASE('4', 9);

    private final byte code;

    private final int numbers;

    ScriptCall(char code, int numbers) {
        this.code = (byte) code;
        this.numbers = numbers;
    }

    byte code() {
        return code;
    }

    /** How many numbers the script replies for each charge. */
    int numbers() {
        return numbers;
    }
}
