package io.ratelimit.spi;

import io.ratelimit.OnStoreFailure;
import java.util.List;

/** Tells whether a store decides by itself or {@link OnStoreFailure} applies. */
public interface StoreHealth {

    /** Checks the store, which takes as long as a decision, and returns what prevents it from deciding; empty if nothing. */
    List<StoreFailure> failures();

    /** Returns what prevented the store from deciding when it was last asked, without a check. */
    default List<StoreFailure> lastFailures() {
        return failures();
    }
}
