package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.reactive.ExchangeRequestCallSource;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The caller, in a Reactor context. */
class ReactiveCallerTests {

    private static final Authentication ALICE = new TestingAuthenticationToken("alice", "secret", "USER");

    private static final Authentication ANONYMOUS =
            new AnonymousAuthenticationToken("key", "anonymous", AuthorityUtils.createAuthorityList("ANONYMOUS"));

    private final ExchangeRequestCallSource requests =
            new ExchangeRequestCallSource(TestWebSettings.of(HeaderFormat.IETF));

    @Test
    void securityGoesBeforeTheExchange() {
        assertThat(principal(exchangeOf(() -> "bob"), ALICE)).isEqualTo("alice");
        assertThat(principal(exchangeOf(() -> "bob"), null)).isEqualTo("bob");
        assertThat(principal(exchangeOf(() -> "bob"), ANONYMOUS)).isEqualTo("bob");
    }

    @Test
    void anonymousIsNobody() {
        assertThat(principal(exchangeOf(ANONYMOUS), ANONYMOUS)).isNull();
        assertThat(principal(exchangeOf(null), null)).isNull();
    }

    @Test
    void principalIsNotAskedForInVain() {
        Mono<Principal> never = Mono.error(new AssertionError());
        ServerWebExchange exchange = exchangeOf(null).mutate().principal(never).build();
        StepVerifier.create(requests.current(false)
                        .contextWrite(context ->
                                context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange)))
                .expectNextCount(1)
                .verifyComplete();
    }

    @Test
    void outsideOfAnExchangeThereIsNoRequest() {
        StepVerifier.create(requests.current(false)).verifyComplete();
        StepVerifier.create(requests.current(true)).verifyComplete();
        StepVerifier.create(
                        requests.current(true).contextWrite(ReactiveSecurityContextHolder.withAuthentication(ALICE)))
                .assertNext(call -> assertThat(call.principal()).isEqualTo(ALICE))
                .verifyComplete();
    }

    @ParameterizedTest
    @CsvSource({"2001:db8::1,2001:db8::/64", "[2001:db8::1],2001:db8::/64", "203.0.113.7,203.0.113.7", "unknown,unknown"
    })
    void addressIsNotLookedUp(String host, String key) {
        ServerWebExchange exchange = MockServerWebExchange.from(
                MockServerHttpRequest.get("/quotes").remoteAddress(InetSocketAddress.createUnresolved(host, 4711)));
        assertThat(caller(exchange).clientIp()).isEqualTo(key);
    }

    @Test
    void addressOfAConnectionIsItsText() {
        ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/quotes")
                .remoteAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 4711)));
        assertThat(caller(exchange).clientIp()).isEqualTo("127.0.0.1");
        assertThat(caller(exchangeOf(null)).clientIp()).isEmpty();
    }

    @Test
    void withoutAWebRequestThereIsAPrincipal() {
        LimitedContexts.inMemory().withBean(Quotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            Mono<String> ofAlice = quotes.quote().contextWrite(ReactiveSecurityContextHolder.withAuthentication(ALICE));
            StepVerifier.create(ofAlice).expectNext("42").verifyComplete();
            StepVerifier.create(ofAlice).verifyError(RateLimitExceededException.class);
            assertThat(context.getBean(RecordingListener.class).keys()).isEqualTo(List.of("alice", "alice"));
            StepVerifier.create(quotes.quote()).verifyError(RateLimitExpressionException.class);
            StepVerifier.create(
                            quotes.quote().contextWrite(ReactiveSecurityContextHolder.withAuthentication(ANONYMOUS)))
                    .verifyError(RateLimitExpressionException.class);
        });
    }

    private String principal(ServerWebExchange exchange, Authentication authentication) {
        RequestCall caller = requests.current(true)
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange))
                .contextWrite(context -> authentication == null
                        ? context
                        : context.putAll(ReactiveSecurityContextHolder.withAuthentication(authentication)
                                .readOnly()))
                .block();
        return caller.principal() == null ? null : caller.principal().getName();
    }

    private RequestCall caller(ServerWebExchange exchange) {
        return requests.current(false)
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange))
                .block();
    }

    private static ServerWebExchange exchangeOf(Principal principal) {
        return MockServerWebExchange.from(MockServerHttpRequest.get("/quotes"))
                .mutate()
                .principal(Mono.justOrEmpty(principal))
                .build();
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s", keyExpression = "principal")
        public Mono<String> quote() {
            return Mono.just("42");
        }
    }
}
