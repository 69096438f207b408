package io.ratelimit;

/** Determines which instances of an application share a limit. */
public enum Scope {

    /** All instances share the limit through the configured store. */
    SHARED,

    /** Each instance applies the limit on its own, in memory, whatever the configured store is. */
    INSTANCE
}
