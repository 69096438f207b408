package io.ratelimit.simulation;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** What the events of a history share: the application, what is drawn at random, and what has happened. */
final class HistoryContext {

    static final List<String> KEYS = List.of("alice", "bob");

    final Random random;

    final World world;

    private final Coverage coverage;

    private final List<String> log = new ArrayList<>();

    /** Used since the last event of the kind that is counted. */
    final Set<Feature> used = EnumSet.noneOf(Feature.class);

    HistoryContext(Random random, World world, Coverage coverage) {
        this.random = random;
        this.world = world;
        this.coverage = coverage;
    }

    void inspect(Declaration limit, String key, Member member) {
        note("looks at " + world.bucket(limit, key, member));
        world.inspect(limit, key, member);
    }

    void visit(Event event) {
        coverage.visit(used, event);
    }

    /** Returns often the same limit, so that what happens meets what has happened before. */
    Declaration limit() {
        return world.limits.get(random.nextBoolean() ? 0 : random.nextInt(world.limits.size()));
    }

    Member member() {
        return world.members.get(random.nextInt(world.members.size()));
    }

    String key() {
        return KEYS.get(random.nextInt(3) > 0 ? 0 : random.nextInt(KEYS.size()));
    }

    /** Returns a key that no call has had. */
    String newKey() {
        return "guest" + log.size();
    }

    void note(String what) {
        log.add(world.time.nanos() / 1_000_000 + " ms: " + what);
    }

    /** Returns the last events. */
    String last(int number) {
        List<String> declared =
                log.stream().filter(line -> line.contains("declares")).toList();
        return String.join("\n", declared) + "\n…\n"
                + String.join(
                        "\n",
                        log.subList(Math.max(declared.size(), log.size() - Math.min(number, log.size())), log.size()));
    }

    Declaration declare(Declaration limit) {
        world.limits.add(limit);
        note("declares " + limit);
        return limit;
    }
}
