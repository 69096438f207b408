package io.ratelimit.redis;

import java.util.List;

/** What one run of the script is given. */
record ScriptInput(List<byte[]> keys, List<byte[]> arguments) {}
