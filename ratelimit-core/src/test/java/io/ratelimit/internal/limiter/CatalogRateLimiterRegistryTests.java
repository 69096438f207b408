package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CatalogRateLimiterRegistryTests {

    private final LimitCatalog catalog =
            new LimitCatalog(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false);

    private final RateLimitGate gate = new RateLimitGate(
            new InMemoryRateLimitStore(new TestClock(), 100),
            new CompositeRateLimitListener(List.of()),
            new RecordingWaiter());

    private final CatalogRateLimiterRegistry registry = new CatalogRateLimiterRegistry(catalog, gate);

    @Test
    void limiterMayBeAskedForBeforeItsLimitIsDeclared() {
        RateLimiter limiter = registry.get("quotes");
        declare("quotes");
        registry.complete();
        assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
        assertThat(limiter.tryAcquire("alice").allowed()).isFalse();
    }

    @Test
    void oneLimiterForAllSpellings() {
        declare("quotes");
        registry.complete();
        assertThat(registry.get("Quo-tes")).isSameAs(registry.get("quotes"));
    }

    @Test
    void namesAreThoseOfTheDeclarations() {
        assertThat(registry.names()).isEmpty();
        declare("quotes");
        declare("Ex-ports");
        assertThat(registry.names()).containsExactly("quotes", "Ex-ports");
        assertThat(registry.names())
                .allSatisfy(name -> assertThat(registry.find(name)).contains(registry.get(name)));
    }

    @Test
    void findsTheLimitersOfDeclaredLimitsAndRemembersNoOthers() {
        assertThat(registry.find("quotes")).isEmpty();
        declare("quotes");
        registry.complete();
        assertThat(registry.find("QUO-TES")).containsSame(registry.get("quotes"));
        assertThat(registry.find("payments")).isEmpty();
    }

    @Test
    void everyNameHasALimiterWhereNothingIsLimited() {
        RateLimiterRegistry unlimited = new UnlimitedRateLimiterRegistry();
        assertThat(unlimited.names()).isEmpty();
        assertThat(unlimited.find("any")).containsSame(unlimited.get("any"));
    }

    @Test
    void nameThatWasTakenOnTrustIsCheckedInTheEnd() {
        declare("quotes");
        registry.get("qoutes");
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(registry::complete)
                .withMessageContainingAll("RateLimiterRegistry.get(\"qoutes\")", "did you mean 'quotes'?");
    }

    @Test
    void unknownNameIsRefusedAndNotRemembered() {
        declare("quotes");
        registry.complete();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.get("payments"))
                .withMessageContainingAll("There is no limit 'payments'", "known are [quotes]");
        declare("payments");
        assertThat(registry.get("payments")).isNotNull();
    }

    @Test
    void unknownNameOfAJointCallIsRefusedAndNotRememberedEvenWhileTheCatalogFills() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.tryAcquireAll(List.of(new PermitRequest("quotes", "alice"))));
        declare("quotes");
        assertThat(registry.tryAcquireAll(List.of(new PermitRequest("quotes", "alice")))
                        .allowed())
                .isTrue();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.tryAcquireAll(List.of(new PermitRequest("payments", "alice"))));
        registry.complete();
    }

    private void declare(String name) {
        catalog.declare(TestLimits.tokenBucket(name, 1, "1/h"), "test", true);
    }
}
