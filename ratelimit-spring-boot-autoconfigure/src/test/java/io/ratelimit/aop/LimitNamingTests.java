package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.Scope;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class LimitNamingTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void defaultNameIsClassAndMethodInKebabCase() {
        runner.withBean(QuoteController.class)
                .run(context -> assertThat(
                                context.getBean(RecordingListener.class).limits())
                        .containsExactlyInAnyOrder("quote-controller-quote", "quote-controller-quote-by-url"));
    }

    @Test
    void overloadsCollideOnTheirDefaultName() {
        runner.withBean(Overloads.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("the default name 'overloads-quote' is also the name of the limit of")
                    .contains(Overloads.class.getName() + ".quote(String)")
                    .contains(Overloads.class.getName() + ".quote(int)");
            assertThat(analysis.getAction())
                    .isEqualTo("Give each its own name, or both the same explicit name to share the limit.");
        });
    }

    @Test
    void defaultNameDoesNotJoinALimitOfTheSameExplicitName() {
        runner.withBean(QuoteController.class)
                .withBean(Borrower.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("the default name 'quote-controller-quote'"));
    }

    @Test
    void sameExplicitNameSharesTheLimit() {
        runner.withBean(SharedOne.class).withBean(SharedTwo.class).run(context -> {
            context.getBean(SharedOne.class).call();
            assertRejected("shared", context.getBean(SharedTwo.class)::call);
        });
    }

    @Test
    void sameNameInAnotherSpellingSharesTheLimit() {
        runner.withBean(SharedOne.class).withBean(SharedInCapitals.class).run(context -> {
            context.getBean(SharedInCapitals.class).call();
            assertThat(context.getBean(RecordingListener.class).limits()).hasSize(1);
            assertThat(catchThrowable(context.getBean(SharedOne.class)::call))
                    .isInstanceOf(RateLimitExceededException.class);
        });
    }

    @Test
    void declarationsThatDisagreeStopTheStartUp() {
        runner.withBean(SharedOne.class).withBean(Disagreeing.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("name 'shared'", "capacity 1 at 1/s", "capacity 2 at 2/s")
                    .contains(SharedOne.class.getName() + ".call()")
                    .contains(Disagreeing.class.getName() + ".call()");
            assertThat(analysis.getAction()).isEqualTo("Give both the same numbers, or one of them another name.");
        });
    }

    @Test
    void scopesThatDisagreeStopTheStartUp() {
        runner.withBean(SharedOne.class)
                .withBean(DisagreeingScope.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("name 'shared'", "capacity 1 at 1/s", "capacity 1 at 1/s, scope INSTANCE"));
    }

    @Test
    void configurationCanMakeDeclarationsAgree() {
        runner.withBean(SharedOne.class)
                .withBean(Disagreeing.class)
                .withPropertyValues("ratelimit.limits.shared.rate=5/s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void sameNameTwiceOnOneMethodStopsTheStartUp() {
        runner.withBean(TwiceTheSame.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("name must be unique among the annotations of a method (was \"same\" twice).")
                    .contains(TwiceTheSame.class.getName() + ".call()");
            assertThat(analysis.getAction()).isEqualTo("Give each limit its own name.");
        });
    }

    @Test
    void nameWithOtherCharactersStopsTheStartUp() {
        runner.withBean(Misnamed.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("name must consist of letters, digits, '-' and '_' (was \"a b\")");
            assertThat(analysis.getAction()).isEqualTo("Rename the limit.");
        });
    }

    static class QuoteController {

        @RateLimited(rate = "1/s")
        public void quote() {}

        @RateLimited(rate = "1/s")
        public void quoteByURL() {}
    }

    static class Borrower {

        @RateLimited(name = "quote-controller-quote", rate = "1/s")
        public void call() {}
    }

    static class Overloads {

        @RateLimited(rate = "1/s")
        public void quote(String id) {}

        @RateLimited(rate = "1/s")
        public void quote(int id) {}
    }

    static class SharedOne {

        @RateLimited(name = "shared", rate = "1/s")
        public void call() {}
    }

    static class SharedTwo {

        @RateLimited(value = "shared", rate = "1/s")
        public void call() {}
    }

    static class SharedInCapitals {

        @RateLimited(name = "SHARED", rate = "1/s")
        public void call() {}
    }

    static class Disagreeing {

        @RateLimited(name = "shared", rate = "2/s")
        public void call() {}
    }

    static class DisagreeingScope {

        @RateLimited(name = "shared", rate = "1/s", scope = Scope.INSTANCE)
        public void call() {}
    }

    static class TwiceTheSame {

        @RateLimited(name = "same", rate = "1/s")
        @RateLimited(name = "same", rate = "10/m")
        public void call() {}
    }

    static class Misnamed {

        @RateLimited(name = "a b", rate = "1/s")
        public void call() {}
    }
}
