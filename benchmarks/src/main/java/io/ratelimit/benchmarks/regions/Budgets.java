package io.ratelimit.benchmarks.regions;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A Redis in each region, with a part of the limit. The parts stay as they are, or a reconciler moves them: every few seconds it
 * reads what each region was asked for, takes from those that need less, and gives to the others once all of these have
 * confirmed that they have less. A region that it does not reach keeps its part, and the others keep theirs.
 */
final class Budgets implements Design {

    /** Of its equal part, each region keeps at least this share, so that it can begin at once. */
    private static final double KEPT = 0.1;

    private final Timeline timeline;

    private final Wire wire;

    private final double capacity;

    private final double rate;

    private final double everySeconds;

    private final Bucket[] buckets;

    private final double[] parts;

    private final long[] asked;

    /** @param everySeconds how often the parts are moved; 0: never */
    Budgets(Timeline timeline, Wire wire, double capacity, double rate, double everySeconds) {
        this.timeline = timeline;
        this.wire = wire;
        this.capacity = capacity;
        this.rate = rate;
        this.everySeconds = everySeconds;
        int regions = wire.regions();
        this.buckets = new Bucket[regions];
        this.parts = new double[regions];
        this.asked = new long[regions];
        for (int region = 0; region < regions; region++) {
            parts[region] = 1.0 / regions;
            buckets[region] = new Bucket(capacity / regions, rate / regions);
        }
        if (everySeconds > 0) {
            timeline.after(everySeconds, this::reconcile);
        }
    }

    @Override
    public String name() {
        return everySeconds > 0 ? "budgets, moved every " + Math.round(everySeconds) + " s" : "equal shares";
    }

    @Override
    public void call(int region, Consumer<Boolean> answer) {
        asked[region]++;
        answer.accept(buckets[region].take(timeline.now(), 1));
    }

    private void reconcile() {
        timeline.after(everySeconds, this::reconcile);
        double sum = Arrays.stream(asked).sum();
        for (int region = 0; region < parts.length; region++) {
            if (wire.isCut(region) || sum == 0) {
                return;
            }
        }
        double[] next = new double[parts.length];
        for (int region = 0; region < parts.length; region++) {
            next[region] = KEPT / parts.length + (1 - KEPT) * asked[region] / sum;
        }
        Arrays.fill(asked, 0);
        double confirmed = wire.longestRoundTrip();
        for (int region = 0; region < parts.length; region++) {
            boolean more = next[region] > parts[region];
            apply(region, next[region], (more ? confirmed : 0) + wire.roundTrip(region) / 2);
        }
    }

    private void apply(int region, double part, double after) {
        timeline.after(after, () -> {
            parts[region] = part;
            buckets[region].change(timeline.now(), part * capacity, part * rate);
        });
    }
}
