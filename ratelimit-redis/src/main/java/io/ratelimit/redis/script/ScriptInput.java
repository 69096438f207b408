package io.ratelimit.redis.script;

import io.ratelimit.spi.Charge;
import java.util.List;

/** What one call asks of the script. */
public interface ScriptInput {

    ScriptCall call();

    List<Charge> charges();

    /** Returns the keys of the charges' buckets. */
    List<byte[]> names();

    /** Returns how many more permits a lease takes in advance at most; of a call that holds or releases permits, its {@link Holding#holder()}. */
    long more();

    /** Permits of one bucket that a call holds. */
    interface Holding {

        Charge charge();

        /** Returns the number of the call, by which Redis knows it. */
        long holder();
    }
}
