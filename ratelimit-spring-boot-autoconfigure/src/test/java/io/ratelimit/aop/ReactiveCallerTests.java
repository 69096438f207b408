package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The caller of a reactive method is in the subscriber's context. */
class ReactiveCallerTests {

    private final List<Boolean> asked = new CopyOnWriteArrayList<>();

    private final RequestCall ofThread = request("thread");

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(RequestCall.Source.class, () -> () -> ofThread)
            .withBean(ReactiveRequestCallSource.class, () -> this::ofContext)
            .withBean(Quotes.class);

    @Test
    void subscribersRequestIsAsked() {
        runner.run(context -> {
            StepVerifier.create(
                            context.getBean(Quotes.class).byAddress().contextWrite(view -> view.put("ip", "context")))
                    .expectNext("quote")
                    .verifyComplete();
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("context");
        });
    }

    @Test
    void outsideOfOneItIsThatOfTheThreadThatCalled() {
        runner.run(context -> {
            StepVerifier.create(context.getBean(Quotes.class).byAddress())
                    .expectNext("quote")
                    .verifyComplete();
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("thread");
        });
    }

    @Test
    void principalIsLookedUpOnlyWhereAnExpressionAsksForIt() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.byAddress().contextWrite(view -> view.put("ip", "a")).block();
            assertThat(asked).containsExactly(false);
            quotes.byPrincipal().contextWrite(view -> view.put("ip", "a")).block();
            assertThat(asked).containsExactly(false, true);
            quotes.conditionally().contextWrite(view -> view.put("ip", "a")).block();
            assertThat(asked).containsExactly(false, true, true);
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("a", "alice", null);
        });
    }

    private Mono<RequestCall> ofContext(boolean withPrincipal) {
        return Mono.deferContextual(view -> {
            asked.add(withPrincipal);
            return Mono.justOrEmpty(view.<String>getOrEmpty("ip")).map(ReactiveCallerTests::request);
        });
    }

    private static RequestCall request(String clientIp) {
        return new RequestCall() {

            @Override
            public String clientIp() {
                return clientIp;
            }

            @Override
            public Principal principal() {
                return () -> "alice";
            }

            @Override
            public String header(String name) {
                return null;
            }
        };
    }

    static class Quotes {

        @RateLimited(name = "addresses", rate = "1/s", keyExpression = "clientIp")
        public Mono<String> byAddress() {
            return Mono.just("quote");
        }

        @RateLimited(name = "principals", rate = "1/s", keyExpression = "principal")
        public Mono<String> byPrincipal() {
            return Mono.just("quote");
        }

        @RateLimited(name = "conditions", rate = "1/s", condition = "principal != null")
        public Mono<String> conditionally() {
            return Mono.just("quote");
        }
    }
}
