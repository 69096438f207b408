package io.ratelimit.testing;

import io.ratelimit.RateLimitAlgorithm;

/** Algorithms of an application: one with the functions that each must have, and one with all. */
public final class OwnAlgorithms {

    private OwnAlgorithms() {}

    /** A fixed window. */
    public static class Batches implements RateLimitAlgorithm {

        @Override
        public String name() {
            return "batches";
        }

        private static long micros(Rule rule) {
            return (rule.capacity() * rule.periodMicros() + rule.permits() - 1) / rule.permits();
        }

        @Override
        public State recover(Rule rule, State state, long now) {
            long windows = (now - state.since()) / micros(rule);
            long left = windows >= state.used() ? 0 : Math.max(0, state.used() - windows * rule.capacity());
            return left == 0 ? new State(0, now, 0) : new State(left, state.since() + windows * micros(rule), 0);
        }

        @Override
        public long timeUntil(Rule rule, State state, long now, long most) {
            long windows = (state.used() - most - 1) / rule.capacity() + 1;
            return state.since() + windows * micros(rule) - now;
        }

        @Override
        public String luaPart() {
            return """
                    local function quotient(a, b) return (a - a % b) / b end
                    local function micros(rule)
                      return quotient(rule.capacity * rule.micros + rule.permits - 1, rule.permits)
                    end
                    return {
                      recover = function(rule, used, since, rest, now)
                        local windows = quotient(now - since, micros(rule))
                        local left = windows >= used and 0 or math.max(0, used - windows * rule.capacity)
                        if left == 0 then return 0, now, 0 end
                        return left, since + windows * micros(rule), 0
                      end,
                      time_until = function(rule, used, since, rest, now, most)
                        return since + (quotient(used - most - 1, rule.capacity) + 1) * micros(rule) - now
                      end,
                    }
                    """;
        }
    }

    /** A leaky bucket as a meter, whose {@code rest} is the level. Half a permit more than the capacity is tolerated. */
    public static class Tolerant implements RateLimitAlgorithm {

        @Override
        public String name() {
            return "Tolerant_2";
        }

        private static long ceiling(long a, long b) {
            return a <= 0 ? 0 : (a - 1) / b + 1;
        }

        private static State state(Rule rule, long since, long level) {
            return new State(ceiling(level, rule.periodMicros()), since, level);
        }

        @Override
        public State recover(Rule rule, State state, long now) {
            long elapsed = now - state.since();
            boolean empty = elapsed >= ceiling(state.rest(), rule.permits());
            return state(rule, now, empty ? 0 : state.rest() - elapsed * rule.permits());
        }

        @Override
        public long used(Rule rule, State state, long now) {
            return ceiling(state.rest() - rule.periodMicros() / 2, rule.periodMicros());
        }

        @Override
        public long timeUntil(Rule rule, State state, long now, long most) {
            return ceiling(state.rest() - most * rule.periodMicros() - rule.periodMicros() / 2, rule.permits());
        }

        @Override
        public State take(Rule rule, State state, long now, long permits) {
            return state(rule, state.since(), state.rest() + permits * rule.periodMicros());
        }

        @Override
        public State refund(Rule rule, State state, long now, long permits) {
            return state(rule, state.since(), Math.max(0, state.rest() - permits * rule.periodMicros()));
        }

        @Override
        public long resetAfter(Rule rule, State state, long now) {
            return ceiling(state.rest(), rule.permits());
        }

        @Override
        public String luaPart() {
            return """
                    local function quotient(a, b) return (a - a % b) / b end
                    local function ceiling(a, b) return a <= 0 and 0 or quotient(a - 1, b) + 1 end
                    local function state(rule, since, level) return ceiling(level, rule.micros), since, level end
                    return {
                      recover = function(rule, used, since, rest, now)
                        local elapsed = now - since
                        local empty = elapsed >= ceiling(rest, rule.permits)
                        return state(rule, now, empty and 0 or rest - elapsed * rule.permits)
                      end,
                      used = function(rule, used, since, rest, now)
                        return ceiling(rest - quotient(rule.micros, 2), rule.micros)
                      end,
                      time_until = function(rule, used, since, rest, now, most)
                        return ceiling(rest - most * rule.micros - quotient(rule.micros, 2), rule.permits)
                      end,
                      take = function(rule, used, since, rest, now, permits)
                        return state(rule, since, rest + permits * rule.micros)
                      end,
                      refund = function(rule, used, since, rest, now, permits)
                        return state(rule, since, math.max(0, rest - permits * rule.micros))
                      end,
                      reset_after = function(rule, used, since, rest, now) return ceiling(rest, rule.permits) end,
                    }
                    """;
        }
    }
}
