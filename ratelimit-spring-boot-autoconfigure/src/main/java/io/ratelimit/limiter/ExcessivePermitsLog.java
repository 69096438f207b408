package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import java.lang.System.Logger.Level;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Logs that a call asks for more than its limit can ever give: once for each limit. */
final class ExcessivePermitsLog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.capacity");

    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    void beyondCapacity(Charge charge) {
        RateLimit limit = charge.limit();
        // To look first takes no lock, unlike to add what is there.
        if (!logged.contains(limit.id()) && logged.add(limit.id())) {
            logger.log(
                    Level.WARNING,
                    "Limit ''{0}'' can never allow a call for {1} permits, because its capacity is {2}: raise "
                            + "ratelimit.limits.{0}.capacity, or let the call cost less; logged once for this limit",
                    limit.name(),
                    Long.toString(charge.permits()),
                    Long.toString(limit.capacity()));
        }
    }
}
