package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.redis.store.HoldingInstance;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random histories of instances that hold permits of the same buckets, die, stand still and come back, while operators reset buckets,
 * replies are lost, Redis loses data and its clock jumps. Compared with a model that knows of each call until when it is counted.
 */
@BothTiers
class HolderTraceTests {

    private static final int TRACES = 100;

    private static final int STEPS = 80;

    private static final int INSTANCES = 3;

    private static final long CAPACITY = 6;

    private static final long SECOND = 1_000_000;

    private static final long HOLD = 30 * SECOND;

    /** For how long Redis knows of a reset. */
    private static final long REMEMBERED = 10 * HOLD;

    private static final long ROUND = HOLD / 3;

    private static final long LONGEST_JUMP = 7_200 * SECOND;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final Random random = TestRandom.create(getClass());

    private final RateLimit limit = TestLimits.concurrency("exports", CAPACITY);

    private final List<String> keys = List.of("alice", "bob");

    private final Map<String, Bucket> buckets = new HashMap<>();

    private final List<Member> members = new ArrayList<>();

    private final List<String> history = new ArrayList<>();

    private TestClock clock;

    private String prefix;

    private long now;

    private int ids;

    /** What Redis should count. */
    private static final class Bucket {

        private final Map<Integer, Taken> taken = new HashMap<>();

        private long seen = Long.MIN_VALUE;

        /** Returns the permits in use. */
        long used(long now) {
            if (now < seen) {
                taken.replaceAll((id, known) -> known.until(Math.min(known.expiry, now + known.time)));
            }
            taken.values().removeIf(known -> known.expiry <= now);
            seen = taken.isEmpty() ? Long.MIN_VALUE : now;
            return taken.values().stream().mapToLong(Taken::permits).sum();
        }

        void reset(long now) {
            used(now);
            taken.replaceAll((id, known) -> known.permits == 0 ? known : new Taken(0, now + REMEMBERED, REMEMBERED));
        }
    }

    /** @param permits 0 after a reset */
    private record Taken(long permits, long expiry, long time) {

        Taken until(long end) {
            return new Taken(permits, end, time);
        }
    }

    private record Running(int id, String key, long permits, StoreOutcome outcome) {}

    /** An instance, and when it should renew what its calls hold. */
    private final class Member {

        private final HoldingInstance instance = new HoldingInstance(redis, clock, prefix);

        private final List<Running> running = new ArrayList<>();

        /** Calls whose permits were reset or released. */
        private final List<Running> ended = new ArrayList<>();

        /** By its own clock, when the permits of its calls were taken or renewed. */
        private final Map<Integer, Long> renewed = new HashMap<>();

        private long time;

        private boolean planned;

        private long due;

        private long lost;

        void enter() {
            String key = keys.get(random.nextInt(keys.size()));
            long permits = random.nextLong(1, 4);
            instance.repeating = random.nextInt(5) == 0;
            history.add("enter " + key + " " + permits + (instance.repeating ? " twice" : ""));
            long used = buckets.get(key).used(now);
            boolean fits = used + permits <= CAPACITY;
            StoreOutcome outcome = instance.enter(new Charge(limit, key, permits));
            instance.repeating = false;
            RateLimitDecision decision = outcome.decision();
            assertThat(decision.allowed()).as("%s", history).isEqualTo(fits);
            assertThat(decision.remaining())
                    .as("%s", history)
                    .isEqualTo(Math.max(0, CAPACITY - used - (fits ? permits : 0)));
            if (fits) {
                Running call = new Running(ids++, key, permits, outcome);
                running.add(call);
                renewed.put(call.id, time);
                count(call);
                if (!planned) {
                    planned = true;
                    due = time + ROUND;
                }
            }
        }

        /** What the call may have taken is released within a second. */
        void enterWithoutReply() {
            String key = keys.get(random.nextInt(keys.size()));
            history.add("enter " + key + " without a reply");
            instance.silent = true;
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> instance.enter(new Charge(limit, key, 1)));
            instance.silent = false;
            instance.recover();
            buckets.get(key).used(now);
            pass(SECOND, false);
        }

        private void count(Running call) {
            buckets.get(call.key).taken.put(call.id, new Taken(call.permits, now + HOLD, HOLD));
            buckets.get(call.key).used(now);
        }

        void release() {
            if (!running.isEmpty()) {
                Running call = running.remove(random.nextInt(running.size()));
                history.add("release " + call.key + " " + call.permits);
                HoldingInstance.release(call.outcome);
                end(call);
            }
        }

        /** It is released already, or was reset. */
        void releaseAgain() {
            if (!ended.isEmpty()) {
                Running call = ended.get(random.nextInt(ended.size()));
                history.add("release again " + call.key + " " + call.permits);
                HoldingInstance.release(call.outcome);
            }
        }

        private void end(Running call) {
            buckets.get(call.key).used(now);
            buckets.get(call.key).taken.remove(call.id);
            running.remove(call);
            ended.add(call);
        }

        void reset(String key) {
            instance.store
                    .change(limit, key, BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
            buckets.get(key).reset(now);
            running(key).forEach(this::end);
        }

        /** Another instance tells of its reset. */
        void beTold(String key) {
            instance.store.forget(limit.id(), KeyDigest.of(key));
            running(key).forEach(call -> renew(call, time));
        }

        private List<Running> running(String key) {
            return running.stream().filter(call -> call.key.equals(key)).toList();
        }

        long held() {
            return running.stream().mapToLong(Running::permits).sum();
        }

        /** A pause, such as of the garbage collection, does not stop its clock. */
        void pass(long micros, boolean pauses) {
            if (pauses) {
                instance.thread.stall(Duration.ofSeconds(micros / SECOND));
                time += micros;
                return;
            }
            instance.thread.pass(Duration.ofSeconds(micros / SECOND));
            long end = time + micros;
            while (planned && due <= end) {
                planned = !running.isEmpty();
                long begun = Math.max(time, due);
                due = begun + ROUND;
                List.copyOf(running).stream()
                        .filter(call -> renewed.get(call.id) < begun)
                        .forEach(call -> renew(call, begun));
            }
            time = end;
        }

        private void renew(Running call, long begun) {
            renewed.put(call.id, begun);
            Bucket bucket = buckets.get(call.key);
            bucket.used(now);
            Taken known = bucket.taken.get(call.id);
            if (known != null && known.permits == 0) {
                end(call);
                return;
            }
            lost += known == null ? call.permits : 0;
            count(call);
        }
    }

    @Test
    void callsAreDecidedByWhatTheLivingAndTheLatelyDeadHold() {
        for (int trace = 0; trace < TestRandom.cases(TRACES); trace++) {
            begin();
            for (int step = 0; step < STEPS; step++) {
                step();
                keys.forEach(this::compare);
                members.forEach(member -> assertThat(member.instance.store.heldPermits(limit))
                        .as("%s", history)
                        .isEqualTo(member.held()));
            }
            members.forEach(member ->
                    assertThat(member.instance.lostPermits()).as("%s", history).isEqualTo(member.lost));
        }
    }

    private void begin() {
        clock = new TestClock();
        now = 0;
        prefix = RedisUnderTest.newPrefix();
        history.clear();
        members.clear();
        keys.forEach(key -> buckets.put(key, new Bucket()));
        for (int i = 0; i < INSTANCES; i++) {
            members.add(new Member());
        }
    }

    private void step() {
        int chosen = random.nextInt(members.size());
        switch (random.nextInt(24)) {
            case 0 -> {
                history.add("die " + chosen);
                members.set(chosen, new Member());
            }
            case 1 -> {
                history.add("lose data");
                redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
                keys.forEach(key -> buckets.put(key, new Bucket()));
            }
            case 2 -> {
                long jump = TestRandom.logarithmic(random, SECOND, LONGEST_JUMP) * (random.nextBoolean() ? 1 : -1);
                history.add("jump " + jump);
                clock.advance(jump);
                now += jump;
            }
            case 3, 4, 5, 6 -> pass(1 + random.nextInt(9), -1);
            case 7 -> pass(1 + random.nextInt(40), chosen);
            case 8, 9, 10, 11 -> members.get(chosen).release();
            case 12 -> members.get(chosen).releaseAgain();
            case 13, 14 -> reset(chosen);
            case 15 -> members.get(chosen).enterWithoutReply();
            default -> members.get(chosen).enter();
        }
    }

    /** Some of the other instances are told. */
    private void reset(int chosen) {
        String key = keys.get(random.nextInt(keys.size()));
        history.add("reset " + key + " by " + chosen);
        members.get(chosen).reset(key);
        for (int i = 0; i < members.size(); i++) {
            if (i != chosen && random.nextBoolean()) {
                history.add("tell " + i);
                members.get(i).beTold(key);
            }
        }
    }

    /** @param pausing the instance that stands still; -1: none */
    private void pass(long seconds, int pausing) {
        history.add("pass " + seconds + " " + pausing);
        clock.advance(seconds * SECOND);
        now += seconds * SECOND;
        for (int i = 0; i < members.size(); i++) {
            members.get(i).pass(seconds * SECOND, i == pausing);
        }
    }

    private void compare(String key) {
        long free = members.get(0)
                .instance
                .store
                .decide(StoreRequest.peek(new Charge(limit, key, 0)))
                .await()
                .decision()
                .remaining();
        assertThat(free)
                .as("%s of %s", key, history)
                .isEqualTo(Math.max(0, CAPACITY - buckets.get(key).used(now)));
    }
}
