package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.StoreOutcome;
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
 * Random histories of instances that hold permits of the same buckets, die, stand still and come back, while Redis loses data and
 * its clock jumps. Compared with a model that knows of each call until when it is counted.
 */
class HolderTraceTests {

    private static final int TRACES = 100;

    private static final int STEPS = 80;

    private static final int INSTANCES = 3;

    private static final long CAPACITY = 6;

    private static final long SECOND = 1_000_000;

    private static final long HOLD = 30 * SECOND;

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
                taken.replaceAll((id, known) -> new Taken(known.permits, Math.min(known.expiry, now + HOLD)));
            }
            taken.values().removeIf(known -> known.expiry <= now);
            seen = taken.isEmpty() ? Long.MIN_VALUE : now;
            return taken.values().stream().mapToLong(Taken::permits).sum();
        }
    }

    private record Taken(long permits, long expiry) {}

    private record Running(int id, String key, long permits, StoreOutcome outcome) {}

    /** An instance, and when it should renew what its calls hold. */
    private final class Member {

        private final HoldingInstance instance = new HoldingInstance(redis, clock, prefix);

        private final List<Running> running = new ArrayList<>();

        /** By its own clock, when the permits of its calls were taken or renewed. */
        private final Map<Integer, Long> renewed = new HashMap<>();

        private long time;

        private boolean planned;

        private long due;

        private long lost;

        void enter() {
            String key = keys.get(random.nextInt(keys.size()));
            long permits = random.nextLong(1, 4);
            history.add("enter " + key + " " + permits);
            long used = buckets.get(key).used(now);
            boolean fits = used + permits <= CAPACITY;
            StoreOutcome outcome = instance.enter(new Charge(limit, key, permits));
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

        private void count(Running call) {
            buckets.get(call.key).taken.put(call.id, new Taken(call.permits, now + HOLD));
            buckets.get(call.key).used(now);
        }

        void release() {
            if (!running.isEmpty()) {
                Running call = running.remove(random.nextInt(running.size()));
                history.add("release " + call.key + " " + call.permits);
                HoldingInstance.release(call.outcome);
                buckets.get(call.key).used(now);
                buckets.get(call.key).taken.remove(call.id);
            }
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
                running.stream().filter(call -> renewed.get(call.id) < begun).forEach(call -> renew(call, begun));
            }
            time = end;
        }

        private void renew(Running call, long begun) {
            renewed.put(call.id, begun);
            Bucket bucket = buckets.get(call.key);
            bucket.used(now);
            lost += bucket.taken.containsKey(call.id) ? 0 : call.permits;
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
        switch (random.nextInt(20)) {
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
            default -> members.get(chosen).enter();
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
        long free =
                members.get(0).instance.store.peek(new Charge(limit, key, 0)).remaining();
        assertThat(free)
                .as("%s of %s", key, history)
                .isEqualTo(Math.max(0, CAPACITY - buckets.get(key).used(now)));
    }
}
