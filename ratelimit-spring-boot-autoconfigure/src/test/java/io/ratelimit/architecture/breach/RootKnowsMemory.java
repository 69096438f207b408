package io.ratelimit.architecture.breach;

import io.ratelimit.architecture.breach.memory.MemoryKnowsRedis;

/** The root package knows none below it. */
public class RootKnowsMemory {

    Object known = new MemoryKnowsRedis();
}
