package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import kotlin.coroutines.Continuation;
import kotlinx.coroutines.flow.Flow;
import org.junit.jupiter.api.Test;
import org.springframework.core.CoroutinesUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** Spring knows how to call what the Kotlin compiler has made of our sources. */
class SuspendingQuotesTests {

    private final SuspendingQuotes quotes = new SuspendingQuotes();

    @Test
    void suspendingFunctionIsAPublisher() throws NoSuchMethodException {
        Method quote = SuspendingQuotes.class.getMethod("quote", String.class, Continuation.class);
        assertThat(KotlinDetector.isSuspendingFunction(quote)).isTrue();
        StepVerifier.create(Flux.from(CoroutinesUtils.invokeSuspendingFunction(quote, quotes, "alice", null))
                        .cast(String.class))
                .expectNext("quote for alice")
                .verifyComplete();
    }

    @Test
    void flowIsAPublisher() {
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(Flow.class);
        StepVerifier.create(
                        Flux.from(adapter.toPublisher(quotes.quotes("alice"))).cast(String.class))
                .expectNext("first for alice", "second for alice")
                .verifyComplete();
    }

    @Test
    void parametersKeepTheirNames() throws NoSuchMethodException {
        assertThat(SuspendingQuotes.class
                        .getMethod("quotes", String.class)
                        .getParameters()[0]
                        .getName())
                .isEqualTo("userId");
    }
}
