package io.ratelimit.redis.settlement;

import static io.ratelimit.redis.settlement.SettlingInstance.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever happens between an instance and Redis, each settlement ends once: Redis has made it once, or it is counted as lost, and
 * then Redis has made it at most once.
 */
@BothTiers
@Timeout(300)
class SettlementRandomTests {

    private static final int HISTORIES = TestRandom.cases(2_000);

    private static final int EVENTS = 200;

    private static final int MOST_WAITING = 100;

    private static final Pattern LOSSES = Pattern.compile("Settlements of calls lost \\(.*\\): (\\d+); permits");

    private static final List<Fate> FATES = List.of(Fate.values());

    private final Random random = TestRandom.create(SettlementRandomTests.class);

    @Test
    void eachSettlementIsMadeOnceOrCountedAsLostOnce() {
        for (int i = 0; i < HISTORIES; i++) {
            try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
                new History(log).run();
            }
        }
    }

    /** What becomes of a script. */
    private enum Fate {
        MADE,
        SOME_REFUSED,
        BROKEN_IN_BETWEEN,
        REFUSED,
        KEYS_APART,
        KEY_FORBIDDEN,
        REPLY_UNREADABLE,
        REPLY_LOST,
        NEVER_ARRIVED,
        NO_ANSWER
    }

    private final class History {

        private final LogRecorder log;

        private final List<Script> underWay = new ArrayList<>();

        private final List<Script> neverAnswered = new ArrayList<>();

        /** By the number of a settlement, how often Redis has made it. */
        private final Map<Long, Integer> made = new LinkedHashMap<>();

        private final Set<String> lost = new LinkedHashSet<>();

        private int losses;

        private final Set<Long> sentThoughLost = new TreeSet<>();

        private final Map<List<Long>, CompletableFuture<Void>> calls = new LinkedHashMap<>();

        private boolean throwing;

        private long number;

        private final SettlingInstance instance = new SettlingInstance(this::send, MOST_WAITING);

        private final SettlementQueue queue = instance.queue;

        private final HandTurnedThread thread = instance.thread;

        History(LogRecorder log) {
            this.log = log;
            instance.clustered = random.nextInt(4) == 0;
            queue.setLossListener(limit -> {
                losses++;
                lost.add(limit.name());
            });
        }

        private void send(SettlingInstance.SettlementScript sent) {
            if (throwing || sent.firstKey().equals("call")) {
                throw new IllegalStateException("Connection closed prematurely");
            }
            Script script =
                    new Script(sent.amounts().stream().map(this::numberOf).toList(), sent.reply());
            underWay.add(script);
            script.numbers.stream()
                    .filter(each -> lost.contains("limit-" + each))
                    .forEach(sentThoughLost::add);
        }

        private void run() {
            try {
                for (int i = 0; i < EVENTS; i++) {
                    event();
                }
                if (random.nextBoolean()) {
                    settleAll();
                }
                // The last losses are logged by another logger.
                thread.pass(Duration.ofMinutes(2));
                int logged = logged();
                assertThat(logged).isEqualTo(losses);
                queue.drain(Duration.ofNanos(1));
                settleAll();
                assertThatEachEndedOnce();
            } finally {
                instance.close();
            }
        }

        private void event() {
            int kind = random.nextInt(100);
            if (kind < 45) {
                for (int i = random.nextInt(20) == 0 ? 2 * MOST_WAITING : random.nextInt(6); i > 0; i--) {
                    call();
                }
            } else if (kind < 85) {
                if (!underWay.isEmpty()) {
                    decide(underWay.remove(random.nextInt(underWay.size())));
                }
            } else if (kind < 86) {
                if (!neverAnswered.isEmpty()) {
                    // Much later than in time.
                    decide(neverAnswered.remove(0));
                }
            } else if (kind < 88) {
                throwing = !throwing;
            } else if (kind < 90) {
                openCircuitBreaker();
            } else if (kind < 92) {
                queue.endOverdue();
            } else {
                thread.pass(Duration.ofNanos(TestRandom.logarithmic(random, 1, TIMEOUT.toNanos() * 4)));
            }
        }

        private void call() {
            if (random.nextInt(3) > 0) {
                Charge charge = charge();
                List<Long> numbers = List.of(charge.permits());
                calls.put(numbers, instance.charge(charge));
            } else {
                Charge[] charges = IntStream.range(0, instance.clustered ? 1 : 1 + random.nextInt(2))
                        .mapToObj(i -> charge())
                        .toArray(Charge[]::new);
                List<Long> numbers = Stream.of(charges).map(Charge::permits).toList();
                calls.put(numbers, instance.refund(numbers, charges));
            }
        }

        /** Of a limit of its own, whose name tells which settlement is lost. */
        private Charge charge() {
            return new Charge(limit(++number), "key-" + random.nextInt(5), number);
        }

        /** Returns the permits of a charge, or of the charge that is refunded. */
        private long numberOf(String amount) {
            return Long.parseLong(
                    amount.startsWith("+") ? amount.substring(1) : amount.substring(0, amount.indexOf(':')));
        }

        private void openCircuitBreaker() {
            for (int i = 0; i < 30; i++) {
                var unused = instance.redis.execute(
                        List.of("call".getBytes(UTF_8)), new byte[0][], instance.redis.deadline());
            }
        }

        private void decide(Script script) {
            script.meet(random.nextInt(4) == 0 ? FATES.get(random.nextInt(FATES.size())) : Fate.MADE);
        }

        private void settleAll() {
            throwing = false;
            while (!underWay.isEmpty()) {
                decide(underWay.remove(0));
            }
            // Redis hung, and runs them now.
            neverAnswered.forEach(script -> script.make(script.numbers.size()));
            neverAnswered.clear();
        }

        private int logged() {
            return log.lines().stream()
                    .map(LOSSES::matcher)
                    .filter(Matcher::find)
                    .mapToInt(line -> Integer.parseInt(line.group(1)))
                    .sum();
        }

        private void assertThatEachEndedOnce() {
            assertThat(sentThoughLost).isEmpty();
            assertThat(lost).as("each is counted once").hasSize(losses);
            calls.forEach((numbers, settled) -> {
                assertThat(settled).isDone();
                boolean anyLost = false;
                for (long each : numbers) {
                    boolean isLost = lost.contains("limit-" + each);
                    anyLost |= isLost;
                    assertThat(made.getOrDefault(each, 0)).isBetween(isLost ? 0 : 1, 1);
                }
                assertThat(settled.isCompletedExceptionally()).isEqualTo(anyLost);
            });
        }

        private RateLimit limit(long number) {
            String name = "limit-" + number;
            return number % 4 == 0
                    ? RateLimit.named(name)
                            .algorithm(Algorithm.FIXED_WINDOW)
                            .rate("1000000/month")
                            .build()
                    : RateLimit.named(name).rate("1000000/s").build();
        }

        /** A script that Redis may get. */
        private final class Script {

            private final List<Long> numbers;

            private final CompletableFuture<List<Long>> reply;

            Script(List<Long> numbers, CompletableFuture<List<Long>> reply) {
                this.numbers = numbers;
                this.reply = reply;
            }

            private void make(int first) {
                numbers.subList(0, first).forEach(each -> made.merge(each, 1, Integer::sum));
            }

            private void meet(Fate fate) {
                switch (fate) {
                    case MADE -> {
                        make(numbers.size());
                        reply.complete(List.of());
                    }
                    case SOME_REFUSED -> refuseSome();
                    case BROKEN_IN_BETWEEN -> {
                        make(random.nextInt(numbers.size()));
                        fail("ERR a corrupt value script: run, on @user_function:99.");
                    }
                    case REFUSED -> fail("OOM command not allowed when used memory > 'maxmemory'");
                    case KEYS_APART -> fail("CROSSSLOT Keys in request don't hash to the same slot");
                    case KEY_FORBIDDEN -> fail("NOPERM No permissions to access a key");
                    case REPLY_UNREADABLE -> {
                        make(numbers.size());
                        reply.complete(null);
                    }
                    case REPLY_LOST -> {
                        make(numbers.size());
                        fail("Connection reset by peer");
                    }
                    case NEVER_ARRIVED -> reply.completeExceptionally(new TimeoutException());
                    case NO_ANSWER -> neverAnswered.add(this);
                }
            }

            private void fail(String problem) {
                reply.completeExceptionally(new IllegalStateException(problem));
            }

            /** Foreign values, and calendar windows that the request does not name. */
            private void refuseSome() {
                List<Long> refused = new ArrayList<>();
                for (int i = 0; i < numbers.size(); i++) {
                    boolean calendar = numbers.get(i) % 4 == 0;
                    if (random.nextInt(4) > 0) {
                        made.merge(numbers.get(i), 1, Integer::sum);
                    } else if (calendar && random.nextInt(4) > 0) {
                        Collections.addAll(refused, (long) i, -2L, TestClock.TODAY + random.nextInt(1000));
                    } else {
                        Collections.addAll(refused, (long) i, -1L, -1L);
                    }
                }
                reply.complete(refused);
            }
        }
    }
}
