package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.Coroutine;
import io.ratelimit.aop.KotlinQuotes;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.BlockingCalls;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Whatever state Redis is in, a limited call blocks neither the event loop that makes it nor the driver's. */
@LongRunning
class NoBlockingTests {

    private static final EventLoopGroup LOOPS = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    @SuppressWarnings({
        "FutureReturnValueIgnored", // What fails is in the outcome.
        "ImmutableEnumChecker" // Threads do not change.
    })
    enum Caller {
        PARALLEL(task -> Schedulers.parallel().schedule(task)),
        EVENT_LOOP(task -> LOOPS.next().execute(task));

        private final Executor executor;

        Caller(Executor executor) {
            this.executor = executor;
        }

        CompletableFuture<Object> calls(Function<Quotes, CompletableFuture<?>> method, Quotes quotes) {
            CompletableFuture<Object> outcome = new CompletableFuture<>();
            executor.execute(() -> {
                try {
                    method.apply(quotes)
                            .handle((value, failure) -> outcome.complete(failure == null ? value : unwrapped(failure)));
                } catch (Throwable thrown) {
                    outcome.completeExceptionally(thrown);
                }
            });
            return outcome;
        }
    }

    /** What loads classes, and reads files for it, is not what the tests are about. */
    @BeforeAll
    static void loadKotlin() {
        LimitedContexts.inMemory()
                .withBean(KotlinQuotes.class)
                .run(context -> Coroutine.quote(context.getBean(KotlinQuotes.class), "alice")
                        .join());
        // The driver's threads are to be looked at, so they must come later.
        BlockingCalls.install();
    }

    private final RedisServer redis = new RedisServer();

    @AfterEach
    void stop() {
        redis.close();
    }

    @AfterAll
    static void stopLoops() {
        var unused = LOOPS.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource
    void connectedRedis(Caller caller) {
        run(runner().withPropertyValues("ratelimit.redis.timeout=10s"), quotes -> {
            assertThat(outcomes(caller, quotes))
                    .containsExactly("mono", List.of("flux"), "future", "quote for alice", "waited");
            assertThat(outcomes(caller, quotes).subList(0, 4))
                    .allSatisfy(outcome -> assertThat(outcome).isInstanceOf(RateLimitExceededException.class));
        });
    }

    /** The very first call, before anybody has connected. */
    @ParameterizedTest
    @EnumSource
    void redisThatNobodyHasConnectedTo(Caller caller) {
        RedisConnector connector = new RedisConnector(
                redis.connections(), Duration.ofSeconds(5), RateLimitScript.load(), RateLimitLibrary.load());
        run(
                runner().withBean(RateLimitScriptExecutor.class, () -> new Cold(connector)),
                quotes -> assertThat(outcomes(caller, quotes))
                        .containsExactly("mono", List.of("flux"), "future", "quote for alice", "waited"));
    }

    @ParameterizedTest
    @EnumSource
    void redisThatHangs(Caller caller) {
        run(runner(), quotes -> {
            redis.hang();
            assertThat(outcomes(caller, quotes))
                    .containsExactly("mono", List.of("flux"), "future", "quote for alice", "waited");
            assertThat(outcomes(caller, quotes).get(0)).isInstanceOf(RateLimitExceededException.class);
        });
    }

    @ParameterizedTest
    @EnumSource
    void redisThatHangsBeforeAnybodyHasConnected(Caller caller) {
        RedisConnector connector = new RedisConnector(
                redis.connections(), Duration.ofMillis(100), RateLimitScript.load(), RateLimitLibrary.load());
        run(runner().withBean(RateLimitScriptExecutor.class, () -> new Cold(connector)), quotes -> {
            redis.hang();
            assertThat(outcomes(caller, quotes))
                    .containsExactly("mono", List.of("flux"), "future", "quote for alice", "waited");
        });
    }

    @ParameterizedTest
    @EnumSource
    void redisThatIsGone(Caller caller) {
        run(runner(), quotes -> {
            redis.kill();
            assertThat(outcomes(caller, quotes))
                    .containsExactly("mono", List.of("flux"), "future", "quote for alice", "waited");
        });
    }

    @ParameterizedTest
    @EnumSource
    void asynchronousMethodsOfALimiter(Caller caller) {
        run(runner().withPropertyValues("ratelimit.redis.timeout=2s"), quotes -> {
            assertThat(programmatic(caller, quotes)).containsOnly("done");
            redis.hang();
            assertThat(programmatic(caller, quotes))
                    .startsWith("done", "done")
                    .hasAtLeastOneElementOfType(RateLimitStoreException.class);
        });
    }

    /** What comes of a wait for permits, a look and a reset, which cannot be made without Redis. */
    private static List<Object> programmatic(Caller caller, Quotes quotes) {
        RateLimiter limiter = quotes.limiters().get("waiting");
        List<Supplier<CompletionStage<?>>> methods = List.of(
                () -> limiter.acquireAsync("alice", 2),
                () -> limiter.peekAsync("alice"),
                () -> limiter.resetAsync("alice"));
        return methods.stream()
                .map(method -> caller.calls(
                                target -> method.get().thenApply(done -> "done").toCompletableFuture(), quotes)
                        .join())
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void methodThatWouldHaveToWaitIsRefusedAndNotCharged(Caller caller) {
        run(runner(), quotes -> {
            Function<Quotes, CompletableFuture<?>> plain = target -> CompletableFuture.completedFuture(target.plain());
            assertThat(caller.calls(plain, quotes))
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .withCauseInstanceOf(IllegalStateException.class)
                    .withMessageContaining(": a call would have to wait on thread ")
                    .withMessageContaining(caller == Caller.PARALLEL ? "parallel-" : "multiThreadIoEventLoopGroup-")
                    .withMessageContaining("return a Mono, a Flux or a CompletionStage");
            assertThat(quotes.plain()).isEqualTo("plain");
        });
    }

    @Test
    void whatTheTestsSeeIsThere() {
        assertThat(BlockingCalls.during(() -> Caller.EVENT_LOOP
                        .calls(target -> CompletableFuture.supplyAsync(() -> "late", delayed()), null)
                        .handle((value, failure) -> value)
                        .join()))
                .isEmpty();
        assertThat(BlockingCalls.during(() -> Caller.EVENT_LOOP
                        .calls(
                                target -> CompletableFuture.completedFuture(
                                        CompletableFuture.supplyAsync(() -> "late", delayed())
                                                .join()),
                                null)
                        .handle((value, failure) -> value)
                        .join()))
                .isNotEmpty();
    }

    private static Executor delayed() {
        return CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS);
    }

    private ApplicationContextRunner runner() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(
                        RedisConnectionFactory.class,
                        redis::connections,
                        definition -> definition.setDestroyMethodName(""))
                .withBean(KotlinQuotes.class)
                .withBean(Quotes.class);
    }

    private static void run(ApplicationContextRunner runner, Consumer<Quotes> calls) {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            List<BlockingOperationError> seen = BlockingCalls.during(() -> calls.accept(quotes));
            assertThat(seen.stream().map(error -> Arrays.toString(error.getStackTrace())))
                    .isEmpty();
        });
    }

    /** What comes of one call of each method, made one after the other. */
    private static List<Object> outcomes(Caller caller, Quotes quotes) {
        List<Object> outcomes = new ArrayList<>();
        outcomes.add(end(caller.calls(target -> target.mono().toFuture(), quotes)));
        outcomes.add(end(caller.calls(target -> target.flux().collectList().toFuture(), quotes)));
        outcomes.add(end(caller.calls(Quotes::future, quotes)));
        outcomes.add(end(caller.calls(target -> Coroutine.quote(target.inKotlin(), "alice"), quotes)));
        outcomes.add(end(caller.calls(target -> target.waiting().toFuture(), quotes)));
        return outcomes;
    }

    /** A call that never ends must fail the test, not keep it from ending. */
    private static Object end(CompletableFuture<Object> call) {
        assertThat(call).succeedsWithin(Duration.ofSeconds(60));
        return call.join();
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException ? failure.getCause() : failure;
    }

    /** It is not warmed up, because the starter does not know what it is. */
    private record Cold(RedisConnector connector) implements RateLimitScriptExecutor, DisposableBean {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            return connector.execute(keys, arguments);
        }

        @Override
        public RedisTopology topology() {
            return connector.topology();
        }

        @Override
        public void destroy() throws Exception {
            connector.destroy();
        }
    }

    static class Quotes {

        private final KotlinQuotes inKotlin;

        private final RateLimiterRegistry limiters;

        Quotes(KotlinQuotes inKotlin, RateLimiterRegistry limiters) {
            this.inKotlin = inKotlin;
            this.limiters = limiters;
        }

        RateLimiterRegistry limiters() {
            return limiters;
        }

        KotlinQuotes inKotlin() {
            return inKotlin;
        }

        @RateLimited(rate = "1/h")
        public Mono<String> mono() {
            return Mono.just("mono");
        }

        @RateLimited(rate = "1/h")
        public Flux<String> flux() {
            return Flux.just("flux");
        }

        @RateLimited(rate = "1/h")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("future");
        }

        @RateLimited(rate = "1/h")
        public String plain() {
            return "plain";
        }

        /** The second slot is a fiftieth of a second away. */
        @RateLimited(name = "waiting", algorithm = Algorithm.LEAKY_BUCKET, capacity = 10, rate = "50/s", permits = "2")
        public Mono<String> waiting() {
            return Mono.just("waited");
        }
    }
}
