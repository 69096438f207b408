package io.ratelimit.web;

import io.ratelimit.expression.RequestLimit;
import java.util.Map;

/**
 * A request that a rule is about.
 *
 * @param variables those of the path
 */
record RequestMatch(RequestLimit limit, Map<String, String> variables) {}
