package io.ratelimit.simulation;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.limiter.RateLimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Changes of an operator: overrides, a refresh, and what is done to buckets. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class OperatorEvents {

    private final HistoryContext history;

    private final Random random;

    private final World world;

    OperatorEvents(HistoryContext history) {
        this.history = history;
        this.random = history.random;
        this.world = history.world;
    }

    void override() {
        Declaration limit = history.limit();
        String plan = limit.plans().isEmpty() || random.nextBoolean()
                ? null
                : limit.plans().get(0);
        override(history.member(), limit, plan, random.nextInt(8));
    }

    void override(Member member, Declaration limit, @Nullable String plan, int kind) {
        RateLimitOverride.Builder override = RateLimitOverride.builder();
        boolean rated = !limit.has(Feature.CONCURRENCY) && !limit.has(Feature.CALENDAR);
        boolean windows = limit.has(Feature.SLIDING_WINDOW) || limit.has(Feature.SLIDING_WINDOW_LOG);
        if (limit.has(Feature.CALENDAR)) {
            override.enabled(random.nextInt(3) > 0);
        } else {
            override.capacity(limit.drawCapacity());
            switch (rated && !windows ? kind : kind % 3) {
                case 0 -> override.enabled(random.nextInt(3) > 0);
                case 1, 2 -> {}
                case 3, 4 -> override.rate(List.of("2/s", "10/s", "10/m").get(random.nextInt(3)));
                case 5 -> override.rate("1000/s").capacity(1_000);
                default -> override.capacity(1_000_000);
            }
        }
        if (random.nextInt(3) > 0) {
            override.duration(Duration.ofMillis(500 + random.nextInt(5_000)));
        }
        RateLimitOverride built = override.build();
        boolean valid = world.isValid(limit, plan, built);
        history.note(member.name() + " overrides " + limit.name + (plan == null ? "" : "/" + plan) + " with " + built
                + (built.duration() == null ? "" : " for " + built.duration()) + (valid ? "" : ", which is invalid"));
        history.visit(Event.OVERRIDE_BEGINS);
        if (built.duration() != null) {
            history.visit(Event.OVERRIDE_ENDS);
        }
        // An instance that does not know yet of what another has changed may find it invalid.
        admit(
                member,
                valid && world.knowsOverrides(member),
                () -> (plan == null
                                ? member.instance().admin()
                                : member.instance().admin().forPlan(plan))
                        .overrideAsync(limit.name, built, RateLimitAdmin.ANY_VERSION));
    }

    void removeOverride() {
        Member member = history.member();
        Declaration limit = history.limit();
        String plan = limit.plans().isEmpty() || random.nextBoolean()
                ? null
                : limit.plans().get(0);
        history.note(member.name() + " removes the override of " + limit.name + (plan == null ? "" : "/" + plan));
        history.visit(Event.OVERRIDE_ENDS);
        admit(
                member,
                true,
                () -> (plan == null
                                ? member.instance().admin()
                                : member.instance().admin().forPlan(plan))
                        .removeOverrideAsync(limit.name, RateLimitAdmin.ANY_VERSION));
    }

    /** An operator's change succeeds, unless it is invalid or Redis fails. */
    void admit(Member member, boolean valid, java.util.function.Supplier<CompletionStage<?>> change) {
        Throwable failure = failure(change.get());
        if (failure != null && valid && member.isWell() && member.instance().network() != null) {
            throw new AssertionError("a valid change is refused: " + failure, failure);
        }
        world.overrideHasChanged(member);
    }

    @Nullable
    Throwable failure(CompletionStage<?> change) {
        return change.<Throwable>handle((done, thrown) -> thrown)
                .toCompletableFuture()
                .getNow(null);
    }

    void change(Event event) {
        change(event, history.member(), history.limit(), history.key());
    }

    void change(Event event, Member member, Declaration limit, String key) {
        if (limit.has(Feature.CONCURRENCY) && event != Event.RESET) {
            return;
        }
        String bucket = world.bucket(limit, key, member);
        var admin = member.instance().admin().bucket(limit.name, key);
        long amount = 1 + random.nextInt(5);
        history.note(member.name() + " does " + event + " " + amount + " to " + bucket);
        history.visit(event);
        boolean[] certain = {false};
        boolean[] failed = {false};
        Runnable asked = () -> {
            CompletionStage<?> change = switch (event) {
                case RESET -> admin.resetAsync();
                case GRANT -> admin.grantAsync(amount);
                case BLOCK -> admin.blockAsync(Duration.ofSeconds(amount));
                default -> admin.unblockAsync();
            };
            failed[0] = change.toCompletableFuture().isCompletedExceptionally();
            certain[0] = change.toCompletableFuture().isDone() && !failed[0];
        };
        if (member.instance().network() == null) {
            asked.run();
        } else {
            member.instance().network().waitedFor(asked);
        }
        Numbers numbers = SimulatedInstance.numbers(member.instance().limit(limit.name, null));
        switch (event) {
            case RESET -> world.model.changes.reset(bucket, certain[0]);
            case GRANT -> world.model.changes.granted(bucket, numbers, amount);
            case BLOCK -> {
                Set<String> others =
                        world.others(member).stream().map(Member::name).collect(Collectors.toSet());
                world.model.changes.blocked(bucket, numbers, amount * 1_000_000, certain[0], others);
            }
            default -> world.model.changes.unblocked(bucket, numbers, certain[0]);
        }
        if (certain[0]) {
            tell(event, bucket, member);
        }
        if (!failed[0] && !limit.has(Feature.INSTANCE_SCOPE)) {
            String local = bucket + " local " + member.name();
            switch (event) {
                case RESET -> world.model.changes.reset(local, certain[0]);
                case UNBLOCK -> world.model.changes.unblocked(local, numbers, certain[0]);
                default -> {}
            }
        }
    }

    /** Redis delivers the message of a change at most once: to instances that are connected at that moment. */
    private void tell(Event event, String bucket, Member by) {
        if (event == Event.RESET) {
            world.model.changes.told(bucket, by.name());
        }
        world.others(by)
                .forEach(other -> world.time.after(SimulatedChannel.DELAY, () -> {
                    if (other.instance().isConnected()) {
                        world.model.changes.told(bucket, other.name());
                    }
                }));
    }

    void refresh() {
        Declaration limit = history.limit();
        limit.refresh();
        history.note("a refresh: " + limit);
        history.visit(Event.REFRESH);
        RateLimitSettings settings = world.settings();
        world.members.forEach(member -> member.instance().reconfigure(settings));
        world.configurationHasChanged();
    }
}
