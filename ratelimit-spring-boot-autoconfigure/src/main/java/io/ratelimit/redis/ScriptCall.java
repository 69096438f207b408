package io.ratelimit.redis;

import java.nio.charset.StandardCharsets;

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

    private final byte[] code;

    ScriptCall(int code) {
        this.code = Integer.toString(code).getBytes(StandardCharsets.US_ASCII);
    }

    byte[] code() {
        return code;
    }
}
