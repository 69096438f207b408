package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.aop.ReturnKind.Quotes;
import io.ratelimit.aop.ReturnKind.StaleQuotes;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.StubStore;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;

/** Whatever a method returns, it is limited, and its caller hears of it in the type's own way. */
class ReturnTypeTests {

    private final ApplicationContextRunner limited = LimitedContexts.inMemory().withBean(Quotes.class);

    @ParameterizedTest
    @EnumSource
    void allowedCallGivesWhatTheMethodGives(ReturnKind kind) {
        limited.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            Object unlimited = kind.outcome(new Quotes());
            assertThat(kind.outcome(quotes)).isEqualTo(unlimited);
            assertThat(quotes.ran()).hasSize(1);
        });
    }

    @ParameterizedTest
    @EnumSource
    void rejectedCallDoesNotRunTheMethod(ReturnKind kind) {
        limited.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            kind.outcome(quotes);
            assertThat(kind.outcome(quotes))
                    .isInstanceOfSatisfying(
                            RateLimitExceededException.class,
                            rejection -> assertThat(rejection.getLimitName()).isEqualTo("quotes"));
            assertThat(quotes.ran()).hasSize(1);
        });
    }

    @ParameterizedTest
    @EnumSource
    void rejectedCallGivesWhatTheFallbackMethodGives(ReturnKind kind) {
        LimitedContexts.inMemory().withBean(StaleQuotes.class).run(context -> {
            Quotes quotes = context.getBean(StaleQuotes.class);
            kind.outcome(quotes);
            assertThat(kind.outcome(quotes)).isEqualTo(kind == ReturnKind.VOID ? null : "stale");
            assertThat(quotes.ran()).hasSize(1);
        });
    }

    @ParameterizedTest
    @EnumSource
    void conditionThatDoesNotHoldLeavesTheCallAlone(ReturnKind kind) {
        limited.withPropertyValues("ratelimit.limits.quotes.condition=#root.args.length > 0")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    kind.outcome(quotes);
                    kind.outcome(quotes);
                    assertThat(quotes.ran()).hasSize(2);
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .isEmpty();
                });
    }

    @ParameterizedTest
    @EnumSource
    void dryRunOnlyCounts(ReturnKind kind) {
        limited.withPropertyValues("ratelimit.dry-run=true").run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            kind.outcome(quotes);
            kind.outcome(quotes);
            assertThat(quotes.ran()).hasSize(2);
            assertThat(context.getBean(RecordingListener.class).outcomes())
                    .containsExactly("quotes ALLOWED", "quotes DRY_RUN_REJECTED");
        });
    }

    @ParameterizedTest
    @EnumSource
    void expressionThatFailsIsToldInTheSameWay(ReturnKind kind) {
        limited.withPropertyValues("ratelimit.limits.quotes.key-expression=false ? 'a' : null")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    assertThat(kind.outcome(quotes)).isInstanceOf(RateLimitExpressionException.class);
                    assertThat(quotes.ran()).isEmpty();
                });
    }

    @ParameterizedTest
    @EnumSource
    void storeThatCannotDecideIsToldInTheSameWay(ReturnKind kind) {
        failing(
                "throw",
                context -> assertThat(kind.outcome(context.getBean(Quotes.class)))
                        .isExactlyInstanceOf(RateLimitStoreException.class));
        failing(
                "reject",
                context -> assertThat(kind.outcome(context.getBean(Quotes.class)))
                        .isInstanceOf(RateLimitRefusedException.class));
    }

    private void failing(String policy, ContextConsumer<AssertableApplicationContext> test) {
        StubStore store = new StubStore();
        store.fail(new RateLimitStoreException(Reason.ERROR, "down", null));
        limited.withBean(RateLimitStore.class, () -> new FailoverRateLimitStore(store, store))
                .withPropertyValues("ratelimit.on-store-failure=" + policy)
                .run(context -> {
                    test.accept(context);
                    assertThat(context.getBean(Quotes.class).ran()).isEmpty();
                });
    }
}
