package io.ratelimit.internal.memory;

import java.util.ArrayList;
import java.util.List;

/**
 * Numbers permits in the order in which they were taken, which is the order in which they come back. Without refunds a charge's
 * number follows from the time at which its permits are to be back. A refund of permits behind others, or before others, moves
 * the later ones to an earlier time. From then on numbers are counted, and each refund of permits behind others leaves a gap.
 *
 * <p>With the most gaps, the nearest two become one, at the place of the earlier. Then charges between the two seem to have been
 * taken earlier than they were: a refund may be less than what is out of them, never more.
 *
 * @param origin the state before the first refund: its first permit in use has number 1
 * @param first how many numbers are before the first permit in use
 */
record RefundGaps(CounterState origin, long first, List<Gap> gaps) {

    /** The most gaps, so that the state has a bounded size. */
    static final int MOST = 16;

    /**
     * Numbers that were refunded.
     *
     * @param before permits in use with smaller numbers
     * @param permits how many numbers
     */
    record Gap(long before, long permits) {}

    static RefundGaps of(CounterState usage) {
        return usage.gaps() == null ? new RefundGaps(usage, 0, List.of()) : usage.gaps();
    }

    /** Returns the number of the last permit in use. */
    long end(long used) {
        long end = first + used;
        for (Gap gap : gaps) {
            end += gap.permits;
        }
        return end;
    }

    /** Returns how many permits in use have this number or a smaller one. */
    long usedUpTo(long number) {
        long used = Math.max(0, number - first);
        for (Gap gap : gaps) {
            used -= Math.min(gap.permits, Math.max(0, used - gap.before));
        }
        return used;
    }

    /** Returns the gaps after the first permits in use have come back. */
    RefundGaps recover(long back) {
        if (back == 0) {
            return this;
        }
        List<Gap> next = new ArrayList<>(gaps.size());
        for (Gap gap : gaps) {
            next.add(new Gap(Math.max(0, gap.before - back), gap.permits));
        }
        return withoutPassed(first + back, next);
    }

    /**
     * Returns the gaps after a refund.
     *
     * @param before permits in use before those that are refunded
     */
    RefundGaps refund(long before, long permits) {
        List<Gap> next = new ArrayList<>(gaps.size() + 1);
        long gone = permits;
        for (Gap gap : gaps) {
            if (gap.before < before) {
                next.add(gap);
            } else if (gap.before <= before + permits) {
                gone += gap.permits;
            }
        }
        next.add(new Gap(before, gone));
        for (Gap gap : gaps) {
            if (gap.before > before + permits) {
                next.add(new Gap(gap.before - permits, gap.permits));
            }
        }
        if (next.size() > MOST) {
            joinNearest(next);
        }
        return withoutPassed(first, next);
    }

    /** No permits are before the first gaps any more: the next permit in use has the number behind them. */
    private RefundGaps withoutPassed(long number, List<Gap> all) {
        long next = number;
        int passed = 0;
        while (passed < all.size() && all.get(passed).before == 0) {
            next += all.get(passed).permits;
            passed++;
        }
        return new RefundGaps(origin, next, List.copyOf(all.subList(passed, all.size())));
    }

    private static void joinNearest(List<Gap> all) {
        int nearest = 0;
        for (int i = 1; i + 1 < all.size(); i++) {
            if (all.get(i + 1).before - all.get(i).before < all.get(nearest + 1).before - all.get(nearest).before) {
                nearest = i;
            }
        }
        Gap second = all.remove(nearest + 1);
        Gap one = all.get(nearest);
        all.set(nearest, new Gap(one.before, one.permits + second.permits));
    }
}
