package io.ratelimit.redis;

import io.ratelimit.Charge;
import java.util.List;

/** A call that the script decides, alone or after others in the same run. */
interface ScriptRequest {

    ScriptCall call();

    List<Charge> charges();

    /** The keys of the charges' buckets. */
    List<byte[]> names();

    /** Of a lease: how many permits more are wanted in advance, at the most. */
    default long more() {
        return 0;
    }
}
