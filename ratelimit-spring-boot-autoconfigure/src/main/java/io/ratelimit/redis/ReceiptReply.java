package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.StoreOutcome;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the script has said of a call's charges, with a receipt for each. That of a charge which took nothing says nothing.
 */
record ReceiptReply(List<Charge> charges, List<RateLimitDecision> decisions, List<Receipt> receipts) {

    /** The receipts of those charges that took something. */
    Map<Charge, Receipt> taken(StoreOutcome outcome) {
        Map<Charge, Receipt> taken = new HashMap<>();
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).permits() > 0 && outcome.isCharged(i)) {
                taken.put(charges.get(i), receipts.get(i));
            }
        }
        return taken;
    }
}
