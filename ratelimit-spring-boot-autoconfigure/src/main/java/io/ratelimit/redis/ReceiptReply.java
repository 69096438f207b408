package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What the script has said of a call's charges, with a receipt for each. That of a charge which took nothing says nothing.
 */
record ReceiptReply(List<Charge> charges, List<RateLimitDecision> decisions, List<Receipt> receipts) {

    /** The receipts of those charges that took something. */
    Map<Charge, Receipt> taken() {
        boolean rejected = IntStream.range(0, charges.size()).anyMatch(i -> binds(i) && !isAllowed(i));
        Map<Charge, Receipt> taken = new HashMap<>();
        for (int i = 0; i < charges.size(); i++) {
            if (isAllowed(i) && charges.get(i).permits() > 0 && !(rejected && binds(i))) {
                taken.put(charges.get(i), receipts.get(i));
            }
        }
        return taken;
    }

    private boolean binds(int i) {
        return !charges.get(i).limit().dryRun();
    }

    private boolean isAllowed(int i) {
        return decisions.get(i).allowed();
    }
}
