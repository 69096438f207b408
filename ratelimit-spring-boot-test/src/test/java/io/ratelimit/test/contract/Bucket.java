package io.ratelimit.test.contract;

import io.ratelimit.RateLimitAlgorithm;

/** A token bucket, whose {@code rest} is what has not come back: the time of a permit is {@code periodMicros} parts. */
class Bucket implements RateLimitAlgorithm {

    private static final String LUA = """
            local function quotient_up(a, b)
              local sum = a + b - 1
              return (sum - sum % b) / b
            end
            local function state(rule, missing, now)
              return quotient_up(missing, rule.micros), now, missing
            end
            return {
              recover = function(rule, _, since, rest, now)
                if now - since >= quotient_up(rest, rule.permits) then return 0, now, 0 end
                return state(rule, rest - (now - since) * rule.permits, now)
              end,
              take = function(rule, _, _, rest, now, permits)
                return state(rule, rest + permits * rule.micros, now)
              end,
              refund = function(rule, _, _, rest, now, permits)
                return state(rule, math.max(0, rest - permits * rule.micros), now)
              end,
              time_until = function(rule, _, _, rest, _, most)
                return quotient_up(rest - most * rule.micros, rule.permits)
              end,
            }
            """;

    private final String lua;

    Bucket() {
        this(LUA);
    }

    private Bucket(String lua) {
        this.lua = lua;
    }

    /** A bucket with changes of the Lua part. */
    static class Mutant extends Bucket {

        /** @param changes what is replaced, and by what */
        Mutant(String... changes) {
            super(changed(changes));
        }

        private static String changed(String... changes) {
            String changed = LUA;
            for (int i = 0; i < changes.length; i += 2) {
                if (!changed.contains(changes[i])) {
                    throw new IllegalArgumentException(changes[i]);
                }
                changed = changed.replace(changes[i], changes[i + 1]);
            }
            return changed;
        }
    }

    @Override
    public String name() {
        return "bucket";
    }

    @Override
    public String luaPart() {
        return lua;
    }

    @Override
    public State recover(Rule rule, State state, long now) {
        long elapsed = now - state.since();
        return elapsed >= quotientUp(state.rest(), rule.permits())
                ? new State(0, now, 0)
                : state(rule, state.rest() - elapsed * rule.permits(), now);
    }

    @Override
    public State take(Rule rule, State state, long now, long permits) {
        return state(rule, state.rest() + permits * rule.periodMicros(), now);
    }

    @Override
    public State refund(Rule rule, State state, long now, long permits) {
        return state(rule, Math.max(0, state.rest() - permits * rule.periodMicros()), now);
    }

    @Override
    public long timeUntil(Rule rule, State state, long now, long most) {
        return quotientUp(state.rest() - most * rule.periodMicros(), rule.permits());
    }

    static State state(Rule rule, long missing, long now) {
        return new State(quotientUp(missing, rule.periodMicros()), now, missing);
    }

    static long quotientUp(long a, long b) {
        return (a + b - 1) / b;
    }
}
