package io.ratelimit.internal.store.lease;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** Runs what happens to the leases of one bucket in every order that the model checker finds: no permit is used twice. */
@LongRunning
class LeaseModelCheckingTests {

    private static final long NOW = 0;

    private static final RateLimit LIMIT = RateLimit.named("quotes")
            .algorithm(Algorithm.SLIDING_WINDOW)
            .rate("100/h")
            .lease(10)
            .build();

    private static final StoreRequest ONE = new Charge(LIMIT, "key", 1);

    private static final long GRANTED = 2;

    private static LeasedPermits leased() {
        RateLimitDecision decision = RateLimitDecision.ofMicros(LIMIT.capacity(), 50, 0, 0, 7_200_000_000L);
        return new LeasedPermits(
                LIMIT, decision, new Lease(GRANTED, permits -> CompletableFuture.completedFuture(null)), 0, 1);
    }

    private static void check(Class<?> states) {
        new ModelCheckingOptions()
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(2)
                .iterations(8)
                .invocationsPerIteration(60)
                .check(states);
    }

    @Test
    void permitsOfALeaseAreHandedOutOrLeftOnce() {
        check(OneStock.class);
    }

    @Test
    void permitsOfABucketAreHandedOutOrRefundedOnce() {
        check(OneBucket.class);
    }

    @Test
    void permitsOfABucketThatIsRenewedAreHandedOutOrRefundedOnce() {
        check(RenewedBucket.class);
    }

    @Test
    void callsThatWaitForALeaseAreHandedOutWhatItBrings() {
        check(NextLease.class);
    }

    public static class OneStock {

        private final LeasedPermits leased = leased();

        @Operation
        public long take() {
            return leased.take(1, NOW);
        }

        @Operation
        public long takeTwo() {
            return leased.take(2, NOW);
        }

        /** What is left once it is over. */
        @Operation
        public long close() {
            LeasedPermits.End end = leased.close(0, NOW);
            return 100 * end.nextAsk() + end.remainder().permits();
        }
    }

    abstract static class Leases {

        final LeasedBucket bucket = new LeasedBucket(LIMIT, "");

        private final Deque<LeaseRequest> requests = new ArrayDeque<>();

        private final List<LeaseRequest> waiting = new ArrayList<>();

        private long granted;

        private long handedOut;

        private long refunded;

        /** With so many permits of a lease that has come. */
        Leases(long permits) {
            ask();
            ask();
            receive();
            for (long i = permits; i < GRANTED; i++) {
                take();
            }
        }

        void take() {
            if (bucket.take(ONE, () -> NOW) != null) {
                handOut(1);
            }
        }

        void ask() {
            LeasedBucket.JoinedRequest joined = bucket.join(1, NOW);
            if (joined == null) {
                return;
            }
            LeaseRequest request = joined.request();
            if (joined.asks()) {
                synchronized (requests) {
                    refunded += permits(request.before());
                    requests.add(request);
                }
            } else if (request.asked() == 0) {
                // One that was complete when this call came.
                handOut(1);
                synchronized (requests) {
                    refunded += permits(request.before());
                }
            } else {
                synchronized (requests) {
                    waiting.add(request);
                }
            }
        }

        void renew() {
            LeaseRequest request = bucket.renew(NOW);
            if (request != null) {
                synchronized (requests) {
                    requests.add(request);
                }
            }
        }

        private static long permits(List<Lease> remainders) {
            return remainders.stream().mapToLong(Lease::permits).sum();
        }

        /** The store answers. */
        void receive() {
            LeaseRequest request;
            synchronized (requests) {
                request = requests.poll();
            }
            if (request != null) {
                Lease remainder = bucket.receive(request, leased(), NOW);
                request.arrived(null);
                synchronized (requests) {
                    granted += GRANTED;
                    refunded += remainder.permits();
                }
            }
        }

        void retireIfIdle() {
            List<Lease> remainders = bucket.retireIfIdle(1, true, NOW);
            synchronized (requests) {
                refunded += remainders == null ? 0 : permits(remainders);
            }
        }

        private void handOut(long permits) {
            synchronized (requests) {
                handedOut += permits;
            }
        }

        /** Calls that have waited without success look for themselves, which none does here. */
        void checkThatEveryPermitIsSomewhere() {
            long served = 0;
            for (LeaseRequest request : waiting) {
                served += request.served(ONE, () -> NOW) == null ? 0 : 1;
            }
            long here = bucket.remainder(NOW);
            if (handedOut + served + refunded + here != granted) {
                throw new IllegalStateException("Of " + granted + " handed out: " + handedOut
                        + ", to calls that waited: " + served + ", refunded: " + refunded + ", left: " + here);
            }
        }
    }

    /** All that may happen. */
    public static class OneBucket extends Leases {

        public OneBucket() {
            super(1);
        }

        @Operation
        public void call() {
            take();
        }

        @Operation
        public void request() {
            ask();
        }

        @Operation
        public void answer() {
            receive();
        }

        @Validate
        public void everyPermitIsSomewhere() {
            checkThatEveryPermitIsSomewhere();
        }

        @Operation
        public void giveUp() {
            bucket.giveUp(NOW);
        }

        @Operation
        public void look() {
            bucket.retireIfIdle(1, false, NOW);
        }

        @Operation
        public void retire() {
            retireIfIdle();
        }
    }

    /** The next lease is asked for, and comes, while permits of the present one are taken. */
    public static class RenewedBucket extends Leases {

        public RenewedBucket() {
            super(1);
        }

        @Operation
        public void call() {
            take();
        }

        @Operation
        public void request() {
            ask();
        }

        @Operation
        public void renewal() {
            renew();
        }

        @Operation
        public void answer() {
            receive();
        }

        @Validate
        public void everyPermitIsSomewhere() {
            checkThatEveryPermitIsSomewhere();
        }

        @Operation
        public void look() {
            bucket.retireIfIdle(1, false, NOW);
        }

        @Operation
        public void retire() {
            retireIfIdle();
        }
    }

    /** Nothing is left, and calls come while the next lease is asked for. */
    public static class NextLease extends Leases {

        public NextLease() {
            super(0);
        }

        @Operation
        public void request() {
            ask();
        }

        @Operation
        public void answer() {
            receive();
        }

        @Validate
        public void everyPermitIsSomewhere() {
            checkThatEveryPermitIsSomewhere();
        }
    }
}
