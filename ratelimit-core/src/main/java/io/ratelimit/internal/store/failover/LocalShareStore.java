package io.ratelimit.internal.store.failover;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** Lets a store decide by this instance's {@linkplain RateLimit#local share} of a limit. The buckets are the same. */
public final class LocalShareStore extends DelegatingRateLimitStore {

    private final IntSupplier instances;

    /** @param instances returns the number of instances that was counted last; 0: none was */
    public LocalShareStore(RateLimitStore store, IntSupplier instances) {
        super(store);
        this.instances = instances;
    }

    /** What was charged is refunded by the very charges that were made, however many instances are counted then. */
    @Override
    public StoreAnswer decide(StoreRequest request) {
        List<Charge> charges = local(request.charges(), instances.getAsInt());
        return super.decide(request.with(charges))
                .map(local -> StoreOutcome.of(request, local.decisions(), local.refund())
                        .mapRefund(refund -> permits -> refund.refund(local(permits, request.charges(), charges))));
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        return super.charge(local(charge, instances.getAsInt()));
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        return super.change(limit.local(instances.getAsInt()), key, change);
    }

    private static List<Charge> local(List<Charge> charges, int counted) {
        return charges.stream().map(charge -> local(charge, counted)).toList();
    }

    /** Leaves out the charges of a call that another policy has allowed, so that nothing was charged here. */
    private static Map<Charge, Long> local(Map<Charge, Long> permits, List<Charge> asked, List<Charge> charges) {
        Map<Charge, Long> local = new HashMap<>();
        for (int i = 0; i < asked.size(); i++) {
            Long some = permits.get(asked.get(i));
            if (some != null) {
                local.put(charges.get(i), some);
            }
        }
        return local;
    }

    private static Charge local(Charge charge, int counted) {
        return new Charge(charge.limit().local(counted), charge.key(), charge.permits());
    }
}
