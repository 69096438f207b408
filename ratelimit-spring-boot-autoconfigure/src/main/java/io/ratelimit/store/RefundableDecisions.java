package io.ratelimit.store;

import io.ratelimit.RateLimitDecision;
import java.util.List;

/**
 * What became of charges that can be given back.
 *
 * @param decisions each charge's own, in their order
 * @param refund gives back what they have taken
 */
public record RefundableDecisions(List<RateLimitDecision> decisions, Refund refund) {}
