package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;

class LimitCatalogTests {

    private final LimitCatalog catalog = catalog();

    private final RateLimit quotes = TestLimits.tokenBucket("quotes", 5, "10/s");

    @Test
    void sameNameAndNumbersShareOneLimit() {
        EffectiveLimit first = catalog.declare(quotes, "A.a()", true);
        EffectiveLimit second = catalog.declare(TestLimits.tokenBucket("Quo-tes", 5, "10/s"), "B.b()", true);
        assertThat(second).isSameAs(first);
        assertThat(catalog.limits()).containsExactly(first.get());
        assertThat(catalog.find("QUOTES")).containsSame(first.get());
    }

    @Test
    void sameNameButOtherNumbersStopTheStart() {
        catalog.declare(quotes, "A.a()", true);
        for (RateLimit other : new RateLimit[] {
            TestLimits.tokenBucket("quotes", 6, "10/s"),
            TestLimits.tokenBucket("quotes", 5, "11/s"),
            TestLimits.fixedWindow("quotes", 5, "10/s")
        }) {
            assertMistake(() -> catalog.declare(other, "B.b()", true))
                    .withMessageContainingAll("B.b()", "A.a()", "'quotes'", other.toString(), quotes.toString())
                    .withMessageContaining("Give both the same numbers");
        }
    }

    @Test
    void defaultNamesDoNotShare() {
        catalog.declare(quotes, "A.a()", false);
        assertMistake(() -> catalog.declare(quotes, "B.b()", false))
                .withMessageContainingAll("default name 'quotes'", "A.a()", "B.b()", "explicit name");
        assertMistake(() -> catalog.declare(quotes, "B.b()", true)).withMessageContaining("default name");
    }

    @Test
    void explicitNameDoesNotShareWithADefaultOne() {
        catalog.declare(quotes, "A.a()", true);
        assertMistake(() -> catalog.declare(quotes, "B.b()", false)).withMessageContaining("default name");
    }

    @Test
    void onePlaceMayBeSeenTwice() {
        EffectiveLimit first = catalog.declare(quotes, "A.a()", false);
        assertThat(catalog.declare(TestLimits.tokenBucket("quotes", 5, "10/s"), "A.a()", false))
                .isSameAs(first);
    }

    @Test
    void beanIsDeclaredAsTheConfigurationWantsIt() {
        LimitCatalog configured = catalog(overrides("quotes", 7L, null));
        assertThat(configured.declare(quotes, "bean 'quotes'").capacity()).isEqualTo(7);
        assertThat(configured.complete()).isEmpty();
    }

    /** Else it would divide the limits that it changes, and not the others. */
    @Test
    void refreshDividesNoLimitByAnotherNumberOfInstances() {
        RateLimitSettings half = TestSettings.of(false, OnStoreFailure.LOCAL, new LocalShare(2), Map.of());
        LimitCatalog halved = new LimitCatalog(half, null, () -> false);
        EffectiveLimit limit = halved.declare(half.apply(quotes.definition().declaration()), "A.a()", true);
        halved.reconfigure(TestSettings.of(
                false,
                OnStoreFailure.LOCAL,
                new LocalShare(4),
                Map.of("quotes", LimitConfiguration.of("quotes").with(LimitAttributes.CAPACITY, 8L))));
        assertThat(limit.get().local(0).capacity()).isEqualTo(4);
        assertThat(halved.settings().localShare()).isEqualTo(half.localShare());
    }

    /** A refresh comes to the parent, too. The limit may be declared there, in a child or in a sibling. */
    @Test
    void refreshedPropertiesMayNameLimitsOfOtherContexts() {
        LimitCatalog child = new LimitCatalog(catalog.settings(), catalog, () -> false);
        LimitCatalog sibling = new LimitCatalog(catalog.settings(), catalog, () -> false);
        catalog.declare(TestLimits.tokenBucket("exports", 5, "1/s"), "bean 'exports'");
        child.declare(quotes, "bean 'quotes'");
        child.complete();
        for (String name : new String[] {"quotes", "exports"}) {
            RateLimitSettings next = catalog(overrides(name, 7L, null)).settings();
            for (LimitCatalog each : new LimitCatalog[] {sibling, child, catalog}) {
                each.reconfigure(next);
            }
            assertThat(child.find(name)).get().extracting(RateLimit::capacity).isEqualTo(7L);
        }
        RateLimitSettings mistake = catalog(overrides("qoutes", 7L, null)).settings();
        assertMistake(() -> catalog.reconfigure(mistake)).withMessageContaining("ratelimit.limits.qoutes must name");
        assertMistake(() -> child.reconfigure(mistake)).withMessageContaining("ratelimit.limits.quotes");
    }

    @Test
    void mistakeInABeansConfigurationNamesTheBean() {
        LimitCatalog configured = catalog(overrides("quotes", -7L, null));
        assertMistake(() -> configured.declare(quotes, "bean 'quotes'"))
                .withMessageContainingAll("bean 'quotes'", "ratelimit.limits.quotes.capacity must be", "(was -7)");
    }

    @Test
    void configurationAloneDeclaresWithARate() {
        LimitCatalog configured = catalog(overrides("uploads", null, "3/m"));
        assertThat(configured.complete()).singleElement().hasToString("TOKEN_BUCKET, capacity 3 at 3/m");
        assertThat(configured.find("uploads")).isPresent();
        assertThat(configured.complete()).singleElement().hasToString("TOKEN_BUCKET, capacity 3 at 3/m");
    }

    @Test
    void configurationOfNothingNamesTheNearest() {
        LimitCatalog configured = catalog(overrides("qoutes", 7L, null));
        configured.declare(quotes, "A.a()", true);
        assertMistake(configured::complete)
                .withMessageContainingAll(
                        "ratelimit.limits.qoutes",
                        "Did you mean ratelimit.limits.quotes?",
                        "With a rate, it declares a limit itself");
    }

    @Test
    void configurationOfNothingWhereThereIsNothing() {
        LimitCatalog configured = catalog(overrides("quotes", 7L, null));
        assertMistake(configured::complete).withMessageContaining("There are no limits.");
    }

    @Test
    void lateDeclarationTakesOverWhatThePropertiesDeclare() {
        LimitCatalog late = lateCatalog(overrides("quotes", 1L, "2/h"));
        EffectiveLimit known = late.effective("quotes").orElseThrow();
        EffectiveLimit declared = declareLate(late, 1, "Quotes.quote()", true);
        assertThat(declared).isSameAs(known);
        assertThat(late.place("quotes")).hasValue("Quotes.quote()");
        late.reconfigure(settings(overrides("quotes", null, "2/h")));
        assertThat(late.find("quotes").orElseThrow().toString()).isEqualTo("TOKEN_BUCKET, capacity 1 at 2/h");
    }

    @Test
    void secondLateDeclarationMustAgreeAndMustNotShareADefaultName() {
        LimitCatalog named = lateCatalog(overrides("quotes", null, "2/h"));
        declareLate(named, 1, "Quotes.quote()", true);
        assertMistake(() -> declareLate(named, 7, "Other.quote()", true)).withMessageContaining("is declared as");
        LimitCatalog unnamed = lateCatalog(overrides("quotes", null, "2/h"));
        declareLate(unnamed, 1, "a.Quotes.quote()", false);
        assertMistake(() -> declareLate(unnamed, 1, "b.Quotes.quote()", false))
                .withMessageContaining("is also the name of the limit of a.Quotes.quote()");
    }

    @Test
    void lateDeclarationThatCannotApplyWhereTheLimitDoesIsRefused() {
        LimitCatalog late = lateCatalog(overrides("quotes", null, "2/h"));
        late.effective("quotes").orElseThrow().addCheck(late, limit -> {
            if (limit.capacity() == 1) {
                throw new RateLimitConfigurationException("capacity must be more.", "Raise it.");
            }
        });
        assertMistake(() -> declareLate(late, 1, "Quotes.quote()", true)).withMessageContaining("must be more");
        assertThat(late.find("quotes").orElseThrow().capacity()).isEqualTo(2);
    }

    private static LimitCatalog lateCatalog(LimitConfiguration overrides) {
        LimitCatalog late = catalog(overrides);
        var unused = late.complete();
        return late;
    }

    private static EffectiveLimit declareLate(LimitCatalog late, long capacity, String place, boolean named) {
        RateLimitBuilder annotation =
                RateLimit.named("quotes").capacity(capacity).rate("1/h");
        return late.declare(late.settings().apply(annotation), place, named);
    }

    private static ThrowableAssertAlternative<RateLimitConfigurationException> assertMistake(
            ThrowableAssert.ThrowingCallable call) {
        return assertThatExceptionOfType(RateLimitConfigurationException.class).isThrownBy(call);
    }

    private static LimitCatalog catalog(LimitConfiguration... overrides) {
        return new LimitCatalog(settings(overrides), null, () -> false);
    }

    private static RateLimitSettings settings(LimitConfiguration... overrides) {
        Map<String, LimitConfiguration> limits = Arrays.stream(overrides)
                .collect(Collectors.toMap(each -> LimitNames.canonical(each.limitName()), e -> e));
        return TestSettings.of(false, OnStoreFailure.LOCAL, limits);
    }

    private static LimitConfiguration overrides(String name, Long capacity, String rate) {
        return LimitConfiguration.of(name)
                .with(LimitAttributes.CAPACITY, capacity)
                .with(LimitAttributes.RATE, rate);
    }
}
