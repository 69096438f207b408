package io.ratelimit.web.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.HttpServer;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.internal.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.NoOpResponseErrorHandler;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Clients call a server. Its path is the status of the response, which asks to be called again in 10 s. */
class RateLimitClientTests {

    private static final String ALL_HOSTS = "all hosts";

    private static HttpServer server;

    private static String url;

    private static final AtomicInteger received = new AtomicInteger();

    private final TestClock clock = new TestClock();

    /** Waiting moves the clock. */
    private final RecordingWaiter waiter = new RecordingWaiter() {
        @Override
        public void await(Duration delay) {
            super.await(delay);
            clock.advance(delay);
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            clock.advance(delay);
            return super.awaitAsync(delay);
        }
    };

    private final RateLimiterRegistry registry = registry(new RecordingWaiter());

    private final RemoteLimit remote = remote(waiter);

    RateLimitClientTests() {
        received.set(0);
    }

    @BeforeAll
    static void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            received.incrementAndGet();
            exchange.getResponseHeaders().set("Retry-After", "10");
            exchange.sendResponseHeaders(
                    Integer.parseInt(exchange.getRequestURI().getPath().substring(1)), -1);
            exchange.close();
        });
        server.start();
        url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    @AfterAll
    static void stop() {
        server.stop(0);
    }

    @ParameterizedTest
    @EnumSource
    void callTakesAPermitOfItsHost(Client client) {
        for (int i = 0; i < 3; i++) {
            assertThat(client.call(remote, url + 200)).isEqualTo(200);
        }
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> client.call(remote, url + 200))
                .isNotInstanceOf(RemoteRateLimitExceededException.class)
                .satisfies(rejection -> assertThat(rejection.getLimitName()).isEqualTo("partner"));
        assertThat(client.call(remote, url.replace("127.0.0.1", "localhost") + 200))
                .isEqualTo(200);
        assertThat(received).hasValue(4);
    }

    @ParameterizedTest
    @EnumSource
    void hostIsNotCalledAndNoPermitTakenUntilRetryAfterIsOver(Client client) {
        assertThat(client.call(remote, url + 429)).isEqualTo(429);
        clock.advance(Duration.ofSeconds(4));
        for (int i = 0; i < 5; i++) {
            assertThatExceptionOfType(RemoteRateLimitExceededException.class)
                    .isThrownBy(() -> client.call(remote, url + 200))
                    .withMessage("The remote host of rate limit 'partner' has asked to be called later (Retry-After)")
                    .satisfies(rejection ->
                            assertThat(rejection.getDecision().retryAfter()).isEqualTo(Duration.ofSeconds(6)));
        }
        assertThat(received).hasValue(1);
        clock.advance(Duration.ofSeconds(6));
        assertThat(client.call(remote, url + 200)).isEqualTo(200);
        assertThat(client.call(remote, url + 200)).isEqualTo(200);
        assertThat(waiter.delays()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void callWaitsForTheEndOfAPauseWithinMaxWait(Client client) {
        RemoteLimit patient = remote.withMaxWait(Duration.ofSeconds(7));
        client.call(patient, url + 503);
        assertThatExceptionOfType(RemoteRateLimitExceededException.class)
                .isThrownBy(() -> client.call(patient, url + 200));
        clock.advance(Duration.ofSeconds(3));
        assertThat(client.call(patient, url + 200)).isEqualTo(200);
        assertThat(waiter.delays()).containsExactly(Duration.ofSeconds(7));
    }

    /** Another call was answered while this one waited for its permit. */
    @ParameterizedTest
    @EnumSource
    void callIsNotSentIfThePauseBeganWhileItWaitedForItsPermit(Client client) {
        RateLimiterRegistry spaced = registry(new RecordingWaiter() {
            @Override
            public void await(Duration delay) {
                Client.REST_CLIENT.call(remote, url + 429);
            }

            @Override
            public CompletionStage<Void> awaitAsync(Duration delay) {
                Client.REST_CLIENT.call(remote, url + 429);
                return super.awaitAsync(delay);
            }
        });
        RemoteLimit waiting = new RemoteLimit("patient", spaced, remote.pauses(), waiter, Duration.ZERO);
        client.call(waiting, url + 200);
        assertThatExceptionOfType(RemoteRateLimitExceededException.class)
                .isThrownBy(() -> client.call(waiting, url + 200));
        assertThat(received).hasValue(2);
        assertThat(spaced.get("patient").peek(RemoteLimit.host(URI.create(url))).delay())
                .as("without the call that was not sent")
                .isEqualTo(Duration.ofHours(1));
    }

    /** The first attempt was sent. The second one is stopped by the pause of all hosts that the first has begun. */
    @Test
    void callThatAnInnerLimitStopsKeepsItsPermit() {
        ClientHttpRequestInterceptor twice = (request, body, execution) -> {
            execution.execute(request, body).close();
            return execution.execute(request, body);
        };
        RestClient client = RestClient.builder()
                .requestFactory(new SimpleClientHttpRequestFactory())
                .requestInterceptor(Client.interceptor(remote))
                .requestInterceptor(twice)
                .requestInterceptor(new RateLimitClientInterceptor(remote(waiter), request -> ALL_HOSTS))
                .build();
        WebClient reactive = WebClient.builder()
                .filter(new RateLimitExchangeFilterFunction(remote, request -> RemoteLimit.host(request.url())))
                .filter((request, next) -> next.exchange(request)
                        .flatMap(ClientResponse::releaseBody)
                        .then(Mono.defer(() -> next.exchange(request))))
                .filter(new RateLimitExchangeFilterFunction(remote(waiter), request -> ALL_HOSTS))
                .build();
        for (Executable call :
                List.<Executable>of(() -> Client.status(client, url + 429), () -> Client.status(reactive, url + 429))) {
            clock.advance(Duration.ofDays(1));
            assertThatExceptionOfType(RemoteRateLimitExceededException.class).isThrownBy(call::execute);
            assertThat(registry.get("partner")
                            .peek(RemoteLimit.host(URI.create(url)))
                            .remaining())
                    .isEqualTo(2);
        }
        assertThat(received).hasValue(2);
    }

    /** Nothing can be refunded. */
    @ParameterizedTest
    @EnumSource
    void limitMayHaveALease(Client client) {
        RemoteLimit leased = new RemoteLimit("leased", registry, new RemotePauses(clock), waiter, Duration.ZERO);
        assertThat(client.call(leased, url + 429)).isEqualTo(429);
        assertThatExceptionOfType(RemoteRateLimitExceededException.class)
                .isThrownBy(() -> client.call(leased, url + 200));
        assertThat(registry.get("leased")
                        .peek(RemoteLimit.host(URI.create(url)))
                        .remaining())
                .isEqualTo(9);
    }

    /** Calls that were under way when the host asked to wait are answered one after the other. */
    @ParameterizedTest
    @EnumSource
    void callWaitsForPausesThatBeginWhileItWaits(Client client) {
        AtomicInteger answers = new AtomicInteger();
        RemotePauses pauses = new RemotePauses(clock);
        RemoteLimit patient = new RemoteLimit(
                        "partner",
                        registry,
                        pauses,
                        new RecordingWaiter() {
                            @Override
                            public void await(Duration delay) {
                                awaitAsync(delay);
                            }

                            @Override
                            public CompletionStage<Void> awaitAsync(Duration delay) {
                                clock.advance(delay);
                                if (answers.getAndIncrement() < 3) {
                                    HttpHeaders headers = new HttpHeaders();
                                    headers.set("Retry-After", "1");
                                    pauses.responded(
                                            RemoteLimit.host(URI.create(url)), HttpStatusCode.valueOf(429), headers);
                                }
                                return super.awaitAsync(delay);
                            }
                        },
                        Duration.ZERO)
                .withMaxWait(Duration.ofMinutes(1));
        client.call(patient, url + 429);
        long sent = clock.micros();
        assertThat(client.call(patient, url + 200)).isEqualTo(200);
        assertThat(clock.micros() - sent).isEqualTo(13_000_000);
    }

    @Test
    void eventLoopDoesNotWait() {
        RemoteLimit patient = remote.withMaxWait(Duration.ofMinutes(1));
        Client.REST_CLIENT.call(patient, url + 429);
        StepVerifier.create(Mono.fromCallable(() -> Client.REST_CLIENT.call(patient, url + 200))
                        .subscribeOn(Schedulers.parallel()))
                .expectError(RemoteRateLimitExceededException.class)
                .verify(Duration.ofSeconds(30));
        assertThat(waiter.delays()).isEmpty();
        assertThat(received).hasValue(1);
    }

    @Test
    void interruptedWaitSendsNothing() {
        RemoteLimit patient = remote(delay -> {
                    throw new InterruptedException();
                })
                .withMaxWait(Duration.ofMinutes(1));
        Client.REST_CLIENT.call(patient, url + 429);
        assertThatExceptionOfType(RateLimitInterruptedException.class)
                .isThrownBy(() -> Client.REST_CLIENT.call(patient, url + 200))
                .satisfies(
                        interruption -> assertThat(interruption.getLimitName()).isEqualTo("partner"));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(received).hasValue(1);
    }

    @Test
    void ownKeySharesPermitsAndPauses() {
        RateLimitClientInterceptor interceptor =
                RateLimitClientInterceptor.of(registry, "partner").withKey(request -> "all hosts");
        RestClient client = RestClient.builder()
                .requestFactory(new SimpleClientHttpRequestFactory())
                .requestInterceptor(interceptor)
                .build();
        assertThat(Client.status(client, url + 429)).isEqualTo(429);
        assertThatExceptionOfType(RemoteRateLimitExceededException.class)
                .isThrownBy(() -> Client.status(client, url.replace("127.0.0.1", "localhost") + 200));
        assertThat(registry.get("partner").peek("all hosts").remaining()).isEqualTo(2);
    }

    @Test
    void ownKeySharesPermitsAndPausesOfAWebClient() {
        WebClient client = WebClient.builder()
                .filter(RateLimitExchangeFilterFunction.of(registry, "partner")
                        .withKey(request -> "all hosts")
                        .withMaxWait(Duration.ofMillis(1)))
                .build();
        assertThat(Client.status(client, url + 429)).isEqualTo(429);
        assertThatExceptionOfType(RemoteRateLimitExceededException.class)
                .isThrownBy(() -> Client.status(client, url.replace("127.0.0.1", "localhost") + 200));
        assertThat(registry.get("partner").peek("all hosts").remaining()).isEqualTo(2);
    }

    @Test
    void unknownLimitAndNegativeWaitAreMistakes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RateLimitClientInterceptor.of(registry, "partners"))
                .withMessageContaining("partner");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RateLimitExchangeFilterFunction.of(registry, "partners"))
                .withMessageContaining("partner");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> RateLimitClientInterceptor.of(registry, "partner").withMaxWait(Duration.ofSeconds(-1)))
                .withMessage("maxWait must not be negative (was -1s)");
    }

    private RemoteLimit remote(Waiter forPauses) {
        return new RemoteLimit("partner", registry, new RemotePauses(clock), forPauses, Duration.ZERO);
    }

    private RateLimiterRegistry registry(Waiter forPermits) {
        LimitCatalog catalog =
                new LimitCatalog(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false);
        catalog.declare(TestLimits.tokenBucket("partner", 3, "1/h"), "test", true);
        catalog.declare(RateLimit.named("leased").rate("10/h").lease(2).build(), "test", true);
        catalog.declare(
                RateLimit.named("patient")
                        .capacity(1)
                        .rate("1/h")
                        .maxWait(Duration.ofDays(1))
                        .build(),
                "test",
                true);
        CatalogRateLimiterRegistry limiters = new CatalogRateLimiterRegistry(
                catalog,
                new RateLimitGate(
                        new InMemoryRateLimitStore(clock, 100), (charge, decision, outcome) -> {}, forPermits));
        limiters.complete();
        return limiters;
    }

    private enum Client {
        REST_CLIENT {
            @Override
            int call(RemoteLimit remote, String url) {
                return status(
                        RestClient.builder()
                                .requestFactory(new SimpleClientHttpRequestFactory())
                                .requestInterceptor(interceptor(remote))
                                .build(),
                        url);
            }
        },
        REST_TEMPLATE {
            @Override
            int call(RemoteLimit remote, String url) {
                RestTemplate template = new RestTemplate(new SimpleClientHttpRequestFactory());
                template.getInterceptors().add(interceptor(remote));
                template.setErrorHandler(new NoOpResponseErrorHandler());
                return template.getForEntity(url, String.class).getStatusCode().value();
            }
        },
        WEB_CLIENT {
            @Override
            int call(RemoteLimit remote, String url) {
                WebClient client = WebClient.builder()
                        .filter(new RateLimitExchangeFilterFunction(remote, request -> RemoteLimit.host(request.url())))
                        .build();
                return status(client, url);
            }
        };

        abstract int call(RemoteLimit remote, String url);

        private static ClientHttpRequestInterceptor interceptor(RemoteLimit remote) {
            return new RateLimitClientInterceptor(remote, request -> RemoteLimit.host(request.getURI()));
        }

        static int status(RestClient client, String url) {
            return client.get()
                    .uri(url)
                    .exchange((request, response) -> response.getStatusCode().value());
        }

        static int status(WebClient client, String url) {
            return client.get()
                    .uri(url)
                    .exchangeToMono(response -> response.releaseBody()
                            .thenReturn(response.statusCode().value()))
                    .block(Duration.ofSeconds(30));
        }
    }
}
