package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.StoreOutcome;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Holds the script's reply to one call.
 *
 * @param decisions one for each charge; of a lease, after the permits taken in advance
 * @param receipts one for each charge, if the call wants receipts; of a lease, for all permits together. The receipt of a charge
 *     that took nothing is meaningless
 * @param more the number of permits taken in advance
 */
record ScriptReply(List<RateLimitDecision> decisions, List<Receipt> receipts, long more) {

    /** Returns the receipts of the charges that took permits. */
    Map<Charge, Receipt> taken(StoreOutcome outcome) {
        Map<Charge, Receipt> taken = new HashMap<>();
        for (int i = 0; i < receipts.size(); i++) {
            Charge charge = outcome.charges().get(i);
            if (charge.permits() > 0 && outcome.isCharged(i)) {
                taken.put(charge, receipts.get(i));
            }
        }
        return taken;
    }
}
