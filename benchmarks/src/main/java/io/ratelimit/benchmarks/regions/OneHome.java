package io.ratelimit.benchmarks.regions;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** One Redis, in the first region. Every call asks it, or with leases the call that finds no permits. */
final class OneHome implements Design {

    /** A lease ends after so many seconds, if its permits are not used up before. */
    private static final double LEASE_SECONDS = 1;

    private final Timeline timeline;

    private final Wire wire;

    private final Bucket bucket;

    private final int lease;

    private final WhileCut whileCut;

    private final Region[] regions;

    /** @param lease the most permits taken in advance; 0: none */
    OneHome(Timeline timeline, Wire wire, double capacity, double rate, int lease, WhileCut whileCut) {
        this.timeline = timeline;
        this.wire = wire;
        this.bucket = new Bucket(capacity, rate);
        this.lease = lease;
        this.whileCut = whileCut;
        this.regions = new Region[wire.regions()];
        for (int region = 0; region < regions.length; region++) {
            regions[region] = new Region(region, new Bucket(capacity / regions.length, rate / regions.length));
        }
    }

    @Override
    public String name() {
        return "one home" + (lease > 0 ? ", leases of " + lease : "") + (whileCut == WhileCut.REJECT ? ", reject" : "");
    }

    @Override
    public void call(int region, Consumer<Boolean> answer) {
        regions[region].call(answer);
    }

    private final class Region {

        private final int number;

        /** While the line is cut. */
        private final Bucket local;

        private final Deque<Consumer<Boolean>> waiting = new ArrayDeque<>();

        private int leased;

        private double leaseEnd;

        private boolean asking;

        Region(int number, Bucket local) {
            this.number = number;
            this.local = local;
        }

        void call(Consumer<Boolean> answer) {
            if (leased > 0 && timeline.now() < leaseEnd) {
                leased--;
                answer.accept(true);
                if (leased <= lease / 2 && !asking && !wire.isCut(number)) {
                    renew();
                }
            } else if (wire.isCut(number)) {
                answer.accept(whileCut == WhileCut.LOCAL && local.take(timeline.now(), 1));
            } else if (lease == 0) {
                ask(answer);
            } else {
                waiting.add(answer);
                if (!asking) {
                    renew();
                }
            }
        }

        private void ask(Consumer<Boolean> answer) {
            wire.there(number, () -> {
                boolean allowed = bucket.take(timeline.now(), 1);
                wire.back(number, () -> answer.accept(allowed));
            });
        }

        /** Takes permits for the calls that wait, and more, at most half of what is left. */
        private void renew() {
            asking = true;
            wire.there(number, () -> {
                double there = bucket.available(timeline.now());
                int forCalls = Math.min(waiting.size(), (int) there);
                int more = Math.min(lease, (int) ((there - forCalls) / 2));
                bucket.take(timeline.now(), forCalls + more);
                wire.back(number, () -> renewed(forCalls + more));
            });
        }

        private void renewed(int permits) {
            asking = false;
            leased = (timeline.now() < leaseEnd ? leased : 0) + permits;
            leaseEnd = timeline.now() + LEASE_SECONDS;
            while (!waiting.isEmpty()) {
                boolean allowed = leased > 0;
                leased -= allowed ? 1 : 0;
                waiting.remove().accept(allowed);
            }
        }
    }
}
