package io.ratelimit.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm.State;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LongRunning;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The contract finds the mistakes of stores. Each is one change of the store that is right. */
@LongRunning
class RateLimitStoreContractTests {

    private interface Mutant {

        H2RateLimitStore create(DataSource database, TimeSource time);
    }

    private abstract static class MutantContract extends H2StoreContract {

        private final Mutant mutant;

        MutantContract(Mutant mutant) {
            this.mutant = mutant;
        }

        @Override
        protected RateLimitStore store(TimeSource time) {
            return mutant.create(DATABASE, time);
        }
    }

    private static void assertFinds(Class<?> contract, String... tests) {
        assertThat(ContractRun.of(contract, tests).messages()).containsOnlyKeys(tests);
    }

    static final class Right extends H2StoreContract {}

    @Test
    void storeThatIsRightPasses() {
        ContractRun results = ContractRun.of(Right.class);

        assertThat(results.messages()).isEmpty();
        assertThat(results.passed()).hasSize(16);
        assertThat(results.skipped())
                .containsOnly(
                        Map.entry("blockedKeyIsRejectedUntilTheBlockEnds", "The store does not support blocks"),
                        Map.entry(
                                "leasedPermitsAreTakenFromTheBucket",
                                "Assumption failed: The store does not support leases"),
                        Map.entry(
                                "permitsAreHeldUntilTheyAreRefunded",
                                "Assumption failed: The store does not support concurrency limits"));
    }

    static final class WithoutLock extends MutantContract {
        WithoutLock() {
            super((database, time) -> new H2RateLimitStore(database, time) {
                @Override
                String lock() {
                    return "";
                }
            });
        }
    }

    @Test
    void rowsThatAreNotLocked() {
        assertFinds(WithoutLock.class, "concurrentCallsTakeNoMoreThanThereIs");
    }

    static final class CaseOfKeysIgnored extends MutantContract {
        CaseOfKeysIgnored() {
            super((database, time) -> new H2RateLimitStore(database, time) {
                @Override
                String id(Charge charge) {
                    String key = charge.key() == null ? null : charge.key().toLowerCase(Locale.ROOT);
                    return super.id(new Charge(charge.limit(), key, 0));
                }
            });
        }
    }

    @Test
    void keysThatDifferInCaseAlone() {
        assertFinds(CaseOfKeysIgnored.class, "differentKeysHaveDifferentBuckets");
    }

    static final class OneByOne extends MutantContract {
        OneByOne() {
            super((database, time) -> new H2RateLimitStore(database, time) {
                @Override
                public StoreAnswer decide(StoreRequest request) {
                    if (request.isSingle()) {
                        return super.decide(request);
                    }
                    return StoreOutcome.of(
                            request,
                            request.charges().stream()
                                    .map(charge -> super.decide(charge).await().decision())
                                    .toList());
                }
            });
        }
    }

    @Test
    void chargesThatAreTakenOneByOne() {
        assertFinds(OneByOne.class, "severalChargesAreTakenTogether", "oneOfSeveralChargesIsRefunded");
    }

    static final class RefundsOfTheLate extends MutantContract {
        RefundsOfTheLate() {
            super((database, time) -> new H2RateLimitStore(database, time) {
                @Override
                CompletionStage<Void> refund(Map<Charge, State> receipts, Map<Charge, Long> permits) {
                    return CompletableFuture.allOf(receipts.keySet().stream()
                            .map(charge -> change(
                                            charge.limit(),
                                            charge.key(),
                                            BucketChange.grant(Math.max(1, permits.get(charge))))
                                    .toCompletableFuture())
                            .toArray(CompletableFuture[]::new));
                }
            });
        }
    }

    @Test
    void refundOfPermitsThatAreBack() {
        assertFinds(RefundsOfTheLate.class, "permitsThatAreBackAreNotRefunded");
    }

    static final class OtherFailures extends MutantContract {
        OtherFailures() {
            super(H2RateLimitStore::new);
        }

        @Override
        protected RateLimitStore failingStore() {
            H2RateLimitStore failing = (H2RateLimitStore) super.failingStore();
            return new H2RateLimitStore(null, TimeSource.monotonic()) {
                @Override
                public StoreAnswer decide(StoreRequest request) {
                    return failing.decide(request).handle((outcome, failure) -> {
                        throw new IllegalStateException(failure);
                    });
                }
            };
        }
    }

    @Test
    void failuresThatAreNoStoreExceptions() {
        assertFinds(OtherFailures.class, "failuresAreStoreExceptions");
    }

    static final class UnsupportedLimits extends MutantContract {
        UnsupportedLimits() {
            super(H2RateLimitStore::new);
        }

        @Override
        protected boolean supports(RateLimit limit) {
            return limit.ownAlgorithm() != null;
        }
    }

    @Test
    void limitsThatAreDecidedThoughTheyAreNotSupported() {
        assertFinds(UnsupportedLimits.class, "limitsThatAreNotSupportedFail");
    }
}
