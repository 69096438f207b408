package io.ratelimit.redis;

/** What the script is asked to do. */
enum ScriptCall {

    /** Changes nothing. */
    LOOK(0),

    /** Charges all, or none. */
    CHARGE(1),

    /** The same, with receipts, for charges that may have to be given back. */
    CHARGE_WITH_RECEIPTS(2),

    /** Gives back what receipts say. */
    GIVE_BACK(3);

    private final char code;

    ScriptCall(int code) {
        this.code = Character.forDigit(code, 10);
    }

    byte[] code() {
        return new byte[] {(byte) code};
    }
}
