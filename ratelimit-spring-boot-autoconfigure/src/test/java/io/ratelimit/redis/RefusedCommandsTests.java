package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Servers and proxies that refuse commands: whether limits work without, and what they say. */
@LongRunning
@Timeout(180)
@DisabledIf(value = "io.ratelimit.testing.redis.RedisProcess#isBefore7", disabledReason = "has no functions")
class RefusedCommandsTests {

    private static final Set<String> ASKED = Set.of("PING", "INFO");

    private static final String NOTHING = "";

    private static final String TEXT_ONLY = "Calls send the text of the script, because Redis does not run EVALSHA";

    private static final String NO_CHANNEL = "WARNING Redis does not permit the channel";

    /** By the commands of a row of docs/redis-reference.md that limits work without: what the log says, after a change of a limit. */
    private static final Map<String, String> OPTIONAL = Map.of(
            "EVALSHA", "INFO " + TEXT_ONLY,
            "FUNCTION, FCALL", "INFO Calls run as a script, because Redis does not run functions",
            "SUBSCRIBE", NO_CHANNEL,
            "PUBLISH", NO_CHANNEL,
            "INFO", NOTHING,
            "HELLO", NOTHING,
            "PING", NOTHING,
            "CLIENT", NOTHING,
            "SCRIPT, CONFIG, COMMAND, CLUSTER", NOTHING);

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    private RateLimitAdmin admin;

    @AfterEach
    void close() {
        log.close();
    }

    static Stream<String> optional() {
        return OPTIONAL.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("optional")
    void limitsWorkWithout(String commands) {
        try (RedisProcess redis = without(commands)) {
            run(redis.address(), (health, quotes) -> {
                assertThat(quotes.tryAcquire("bob").remaining()).isEqualTo(999);
                assertThat(quotes.tryAcquire("bob").remaining()).isEqualTo(998);
                assertThat(health.failures()).isEmpty();
                admin.override(
                        "quotes", RateLimitOverride.builder().dryRun(false).build());
                String said = OPTIONAL.get(commands);
                await().untilAsserted(() -> assertThat(log.text()).contains(said));
                if (!said.startsWith("WARNING")) {
                    // An application that has ended tells of its Redis up to a second later.
                    assertThat(log.text().lines())
                            .filteredOn(line -> !line.contains("Redis at ") || line.contains(redis.address()))
                            .allMatch(line -> line.startsWith("INFO "), "tells of no failure");
                }
            });
        }
    }

    @Test
    void neverConnectsWithoutAnyGreeting() {
        try (RedisProcess redis = without("HELLO, PING")) {
            run(
                    redis.address(),
                    (health, quotes) -> await().untilAsserted(() ->
                            assertThat(failureOf(quotes).getReason()).isEqualTo(Reason.FORBIDDEN)));
        }
    }

    /** A node finds the others by it. */
    @Test
    void clusterIsNotFoundWithoutItsCommand() {
        try (RedisProcess redis = RedisProcess.node()) {
            redis.send("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            redis.send("ACL", "SETUSER", "default", "-cluster");
            runAt(
                    "ratelimit.redis.cluster.nodes=" + redis.address(),
                    (health, quotes) -> await().untilAsserted(() ->
                            assertThat(failureOf(quotes)).hasMessageContaining("'cluster|nodes' command")));
        }
    }

    @Test
    void nothingButEvalIsSent() {
        try (RedisProcess redis = without("SCRIPT, FUNCTION, FCALL, EVALSHA")) {
            run(redis.address(), (health, quotes) -> {
                assertThat(quotes.tryAcquire("bob").remaining()).isEqualTo(999);
                assertThat(quotes.tryAcquire("bob").remaining()).isEqualTo(998);
            });
            assertThat(log.lines())
                    .filteredOn(line -> line.startsWith(TEXT_ONLY))
                    .hasSize(1);
            assertThat(log.levels()).as(log.text()).containsOnly("INFO");
        }
    }

    @Test
    void reasonIsSaidWithoutTheTime() {
        try (RedisProcess redis = without("TIME")) {
            run(redis.address(), (health, quotes) -> {
                RateLimitStoreException failure = failureOf(quotes);
                assertThat(failure.getReason()).isEqualTo(Reason.FORBIDDEN);
                assertThat(failure).hasMessageMatching("(?s).*Unknown (Redis )?command called from script");
                assertThat(health.failures())
                        .singleElement()
                        .satisfies(known -> assertThat(known.reason()).isEqualTo(Reason.FORBIDDEN));
            });
        }
    }

    /** The ACL denies it, as other servers do not know it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reasonIsSaidIfTheUserMayNotAskForTheTime(boolean functions) {
        try (RedisProcess redis = withoutTime()) {
            runner("ratelimit.redis.url=redis://" + redis.address())
                    .withPropertyValues("ratelimit.redis.functions=" + functions)
                    .run(context -> {
                        RateLimitStoreException failure = failureOf(
                                context.getBean(RateLimiterRegistry.class).get("quotes"));
                        assertThat(failure.getReason()).isEqualTo(Reason.FORBIDDEN);
                        assertThat(failure)
                                .hasMessageMatching("(?s).*(can't|cannot) (access this|run this|run the) .*");
                        assertThat(context.getBean(StoreHealth.class).failures())
                                .singleElement()
                                .satisfies(known -> assertThat(known.reason()).isEqualTo(Reason.FORBIDDEN));
                    });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void limitsGoByTheClocksOfInstancesWithoutTheTime(boolean functions) {
        try (RedisProcess redis = withoutTime()) {
            ApplicationContextRunner instance = runner("ratelimit.redis.url=redis://" + redis.address())
                    .withPropertyValues(
                            "ratelimit.redis.clock=instance",
                            "ratelimit.redis.functions=" + functions,
                            "ratelimit.limits.exports.algorithm=concurrency",
                            "ratelimit.limits.exports.capacity=2");
            instance.run(first -> instance.run(second -> {
                RateLimiterRegistry registry = first.getBean(RateLimiterRegistry.class);
                RateLimiterRegistry other = second.getBean(RateLimiterRegistry.class);
                assertThat(registry.get("quotes").tryAcquire("bob").remaining()).isEqualTo(999);
                assertThat(other.get("quotes").tryAcquire("bob").remaining()).isEqualTo(998);
                RateLimiter.Entry entry = registry.get("exports").enter("bob");
                assertThat(other.get("exports").peek("bob").remaining()).isEqualTo(1);
                entry.close();
                first.getBean(RateLimitAdmin.class)
                        .override(
                                "quotes",
                                RateLimitOverride.builder()
                                        .capacity(5)
                                        .duration(Duration.ofHours(1))
                                        .build());
                await().untilAsserted(() ->
                        assertThat(other.get("quotes").peek("bob").capacity()).isEqualTo(5));
                assertThat(second.getBean(StoreHealth.class).failures()).isEmpty();
            }));
        }
        assertThat(log.lines())
                .filteredOn(line -> line.contains("go by the clocks of instances"))
                .hasSize(2);
    }

    private static RedisProcess withoutTime() {
        RedisProcess redis = RedisProcess.server();
        redis.send("ACL", "SETUSER", "default", "-time");
        return redis;
    }

    /** What a command was sent with can be a key. */
    @Test
    void keyIsNotInTheReason() {
        try (RedisProcess redis = without("EVAL, EVALSHA, FCALL")) {
            run(
                    redis.address(),
                    (health, quotes) -> assertThat(failureOf(quotes)).hasMessage("Redis: ERR unknown command 'EVAL'"));
        }
        assertThat(log.text()).doesNotContain("bob");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fcall", "function", "info"})
    void proxyThatClosesTheConnectionIsNotAskedForEver(String command) {
        try (RedisProcess redis = RedisProcess.server();
                FaultyProxy proxy = new FaultyProxy(redis.port())) {
            proxy.refuse(command);
            run("127.0.0.1:" + proxy.port(), (health, quotes) -> {
                await().ignoreExceptions().until(() -> {
                    quotes.tryAcquire("bob");
                    return proxy.refusals() == (command.equals("info") ? 1 : 2);
                });
                await().ignoreExceptions().until(() -> quotes.tryAcquire("bob").allowed());
                redis.send("SCRIPT", "FLUSH");
                for (int i = 0; i < 20; i++) {
                    quotes.tryAcquire("bob");
                }
                assertThat(proxy.refusals()).isLessThanOrEqualTo(2);
            });
        }
    }

    @Test
    void proxyThatClosesTheConnectionAtTheGreetingGetsTheOlderProtocol() {
        try (RedisProcess redis = RedisProcess.server();
                FaultyProxy proxy = new FaultyProxy(redis.port())) {
            proxy.refuse("hello");
            run("127.0.0.1:" + proxy.port(), (health, quotes) -> {
                await().ignoreExceptions().until(() -> quotes.tryAcquire("bob").allowed());
                assertThat(proxy.refusals()).isEqualTo(1);
            });
        }
    }

    /** Overrides and figures are scripts, which must not take the connection from calls. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void proxyThatClosesTheConnectionIsAskedForTheDigestOnce(boolean functions) {
        try (RedisProcess redis = RedisProcess.server();
                FaultyProxy proxy = new FaultyProxy(redis.port())) {
            proxy.refuse(functions ? new String[] {"evalsha"} : new String[] {"evalsha", "fcall"});
            run("127.0.0.1:" + proxy.port(), (health, quotes) -> {
                await().ignoreExceptions().until(() -> {
                    quotes.tryAcquire("bob");
                    String lines = log.text();
                    return lines.contains(TEXT_ONLY)
                            && (functions || lines.contains("if Redis is asked for functions"));
                });
                await().ignoreExceptions().until(() -> quotes.tryAcquire("bob").allowed());
                int refusals = proxy.refusals();
                for (int i = 0; i < 40; i++) {
                    assertThat(quotes.tryAcquire("bob").allowed()).isTrue();
                }
                await("scripts in the background")
                        .until(
                                () -> redis.send("INFO", "commandstats").toString(),
                                stats -> stats.contains("eval:calls="));
                assertThat(proxy.refusals()).isEqualTo(refusals);
            });
        }
        assertThat(log.lines()).filteredOn(line -> line.startsWith(TEXT_ONLY)).hasSize(1);
    }

    @Test
    void proxyThatClosesTheConnectionIsAskedForASubscriptionTwice() {
        try (RedisProcess redis = RedisProcess.server();
                FaultyProxy proxy = new FaultyProxy(redis.port())) {
            proxy.refuse("subscribe");
            run("127.0.0.1:" + proxy.port(), (health, quotes) -> {
                await().untilAsserted(
                                () -> assertThat(log.text()).contains("WARNING Redis does not permit the channel"));
                int connections = proxy.connections();
                long scripts = scripts(redis);
                await("five seconds of scripts").until(() -> scripts(redis) >= scripts + 5);
                assertThat(proxy.refusals()).isEqualTo(2);
                assertThat(proxy.connections()).isEqualTo(connections);
                assertThat(quotes.tryAcquire("bob").allowed()).isTrue();
            });
        }
    }

    private static long scripts(RedisProcess redis) {
        return Pattern.compile("cmdstat_evalsha:calls=(\\d+)")
                .matcher((String) redis.send("INFO", "commandstats"))
                .results()
                .mapToLong(calls -> Long.parseLong(calls.group(1)))
                .sum();
    }

    @Test
    void tableOfThePageIsComplete() {
        String page = MarkdownPage.of("docs/redis-reference.md").text();
        assertThat(Pattern.compile("(?m)^\\| (`[A-Z]+`(?:, `[A-Z]+`)*) \\|")
                        .matcher(page)
                        .results()
                        .map(row -> row.group(1).replace("`", "")))
                .contains("EVAL", "TIME")
                .containsAll(OPTIONAL.keySet());
    }

    private static RateLimitStoreException failureOf(RateLimiter limiter) {
        try {
            limiter.tryAcquire("bob");
        } catch (RateLimitStoreException ex) {
            return ex;
        }
        throw new AssertionError("decided");
    }

    /** The tests ask the server by PING and INFO when it starts, so these are refused later. */
    private static RedisProcess without(String commands) {
        List<String> names = List.of(commands.split(", "));
        RedisProcess redis = RedisProcess.server(names.stream()
                .filter(name -> !ASKED.contains(name))
                .map(name -> "rename-command " + name + " \"\"")
                .toArray(String[]::new));
        names.stream().filter(ASKED::contains).forEach(name -> redis.send("ACL", "SETUSER", "default", "-" + name));
        return redis;
    }

    private interface Use {

        void use(StoreHealth health, RateLimiter quotes);
    }

    private void run(String address, Use use) {
        runAt("ratelimit.redis.url=redis://" + address, use);
    }

    private void runAt(String server, Use use) {
        runner(server).run(context -> {
            admin = context.getBean(RateLimitAdmin.class);
            use.use(
                    context.getBean(StoreHealth.class),
                    context.getBean(RateLimiterRegistry.class).get("quotes"));
        });
    }

    private static ApplicationContextRunner runner(String server) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        server,
                        "ratelimit.redis.timeout=10s",
                        "ratelimit.on-store-failure=throw",
                        "ratelimit.limits.quotes.rate=1000/h");
    }
}
