package io.ratelimit.testing.reference;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts what is taken in a window; the next opens with the first call that takes something after its end. If more than the
 * capacity was taken, the next window opens at the end of the last one, and the rest counts in it.
 */
final class ReferenceFixedWindow implements ReferenceBucket {

    private final Fraction length;

    private final long capacity;

    /** The windows of calls. */
    private final Map<Object, Window> calls = new HashMap<>();

    private final Map<Object, Long> taken = new HashMap<>();

    private Window window = new Window(null, Fraction.ZERO);

    private long count;

    ReferenceFixedWindow(Fraction length, long capacity) {
        this.length = length;
        this.capacity = capacity;
    }

    private boolean isOpen(long now) {
        while (count > 0 && Fraction.of(now).compareTo(window.end) >= 0) {
            count = Math.max(0, count - capacity);
            window = new Window(null, window.end.plus(length));
        }
        return count > 0;
    }

    @Override
    public Fraction used(long now) {
        return isOpen(now) ? Fraction.of(count) : Fraction.ZERO;
    }

    @Override
    public void take(long now, long permits, Object call) {
        if (!isOpen(now)) {
            window = new Window(call, Fraction.of(now).plus(length));
        }
        calls.put(call, window);
        taken.put(call, permits);
        count += permits;
    }

    /** Permits of earlier windows are back. Without the call that opened it, the window starts anew. */
    @Override
    public void refund(long now, Object call, long permits) {
        if (!isOpen(now) || calls.get(call) != window) {
            return;
        }
        long before = count;
        count = Math.max(0, count - permits);
        if (window.opener == call && permits == taken.get(call) && before > 0) {
            window.end = Fraction.of(now).plus(length);
        }
    }

    @Override
    public void grant(long now, long permits) {
        count = isOpen(now) ? Math.max(0, count - permits) : 0;
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        Fraction missing = used(now).minus(mostUsed);
        if (missing.compareTo(Fraction.ZERO) <= 0) {
            return Fraction.ZERO;
        }
        Fraction later = Fraction.of(missing.dividedBy(Fraction.of(capacity)).ceiling() - 1);
        return window.end.plus(later.times(length)).minus(Fraction.of(now));
    }

    private static final class Window {

        private final Object opener;

        private Fraction end;

        Window(Object opener, Fraction end) {
            this.opener = opener;
            this.end = end;
        }
    }
}
