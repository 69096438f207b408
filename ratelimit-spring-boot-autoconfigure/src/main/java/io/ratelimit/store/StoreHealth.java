package io.ratelimit.store;

import io.ratelimit.OnStoreFailure;
import java.util.List;

/** A store that knows whether it decides by itself, or by {@link OnStoreFailure}. */
public interface StoreHealth {

    /** What keeps it from deciding; nothing: it decides. Asks, and so takes as long as a decision. */
    List<StoreFailure> failures();
}
