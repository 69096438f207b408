package io.ratelimit.expression;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.internal.limiter.PlanCache;
import io.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The charges of one call, which may have to wait for the plans that beans find for their keys. */
public final class DraftedCharges {

    private final List<RateLimitOperation> operations = new ArrayList<>(2);

    private final List<Charge> drafts = new ArrayList<>(2);

    /**
     * Adds the charge of one limit, unless the call is not limited by this operation, or charged to the limit already.
     *
     * @return whether there is a charge
     * @throws RateLimitExpressionException if an expression fails or its result has the wrong type
     */
    public boolean add(RateLimitOperation operation, Evaluation evaluation) {
        String limit = operation.limit().id();
        for (Charge draft : drafts) {
            if (draft.limit().id().equals(limit)) {
                return false;
            }
        }
        Charge draft = operation.charge(evaluation);
        if (draft != null) {
            operations.add(operation);
            drafts.add(draft);
        }
        return draft != null;
    }

    /** Returns what is done when all plans are known, or are no longer waited for; {@code null} if there is no need to wait. */
    private @Nullable CompletableFuture<?> plans() {
        CompletableFuture<?> all = null;
        for (int i = 0; i < drafts.size(); i++) {
            CompletableFuture<?> plan = operations.get(i).awaitPlan(drafts.get(i));
            all = all == null ? plan : plan == null ? all : CompletableFuture.allOf(all, plan);
        }
        return all;
    }

    /** Waits for the plans, unless the current thread must not block, and returns the charges. */
    public List<Charge> await(BooleanSupplier mustNotBlock) {
        CompletableFuture<?> plans = plans();
        if (plans != null && !mustNotBlock.getAsBoolean()) {
            PlanCache.block(plans);
        }
        return planned();
    }

    /** Returns the charges as soon as the plans are known, which may be on a thread that runs no code of the application. */
    public CompletableFuture<List<Charge>> awaitAsync() {
        CompletableFuture<?> plans = plans();
        return plans == null ? CompletableFuture.completedFuture(planned()) : plans.handle((done, thrown) -> planned());
    }

    /** Returns the charges by the plans that are known now, without those of callers that are not limited. */
    private List<Charge> planned() {
        List<Charge> charges = new ArrayList<>(drafts.size());
        for (int i = 0; i < drafts.size(); i++) {
            Charge planned = operations.get(i).planned(drafts.get(i));
            if (planned != null) {
                charges.add(planned);
            }
        }
        return charges;
    }
}
