package io.ratelimit.redis.script;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limit.CalendarWindows;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Encodes calls into the script's arguments. Its reply is a {@link ScriptReply}. */
public final class ScriptCodec {

    /** The code of a charge that belongs to the call before it. */
    private static final byte FURTHER = '+';

    /** The code of a call with one charge, of the same limit and permits as the call before it. */
    private static final byte OTHER_KEY = ',';

    /** The code of a call that equals the call before it. */
    private static final byte AS_BEFORE = '=';

    /** Encoded numbers of permits that most calls have. */
    private static final byte[][] SMALL =
            IntStream.range(0, 128).mapToObj(n -> ascii("" + n)).toArray(byte[][]::new);

    /** Limits that change leave entries behind, so all are removed now and then. */
    private static final int MOST_LIMITS = 10_000;

    /** Between the permits and their holder. */
    private static final String HELD_BY = "@";

    /** The call waits for permits. */
    private static final String WAITS = "!";

    /** Tells the holders of this instance from those of others; digits alone. */
    private final String instance = Long.toUnsignedString(new SecureRandom().nextLong()) + ":";

    private final Map<RateLimit, byte[]> limits = new ConcurrentHashMap<>();

    /** Encodes a call in a run of its own. */
    public byte[][] arguments(ScriptCall call, List<Charge> charges) {
        List<byte[]> arguments = new ArrayList<>(1 + 2 * charges.size());
        arguments.add(new byte[charges.size()]);
        add(call, charges, 0, arguments, 0);
        return arguments.toArray(byte[][]::new);
    }

    /**
     * Encodes calls that one run decides one after the other. None of them refunds. What equals the call before is left out.
     *
     * @param keys receives the keys of the script
     */
    public byte[][] arguments(List<? extends ScriptInput> calls, List<byte[]> keys) {
        int count = 0;
        for (ScriptInput call : calls) {
            count += call.charges().size();
        }
        byte[] codes = new byte[count];
        List<byte[]> arguments = new ArrayList<>(1 + 2 * count);
        arguments.add(codes);
        ScriptInput before = null;
        int at = 0;
        for (ScriptInput call : calls) {
            if (before == null || !chargesAlike(before, call)) {
                keys.addAll(call.names());
                add(call.call(), call.charges(), call.more(), arguments, at);
            } else if (Arrays.equals(before.names().get(0), call.names().get(0))) {
                codes[at] = AS_BEFORE;
            } else {
                codes[at] = OTHER_KEY;
                keys.add(call.names().get(0));
            }
            at += call.charges().size();
            before = call;
        }
        return arguments.toArray(byte[][]::new);
    }

    private String holding(long permits, long holder) {
        return permits + HELD_BY + instance + holder;
    }

    /**
     * Encodes renewals of permits, in a run of its own.
     *
     * @param buckets those of each bucket
     */
    public byte[][] renewalArguments(List<? extends List<? extends ScriptInput.Holding>> buckets) {
        List<byte[]> arguments = new ArrayList<>(1 + 2 * buckets.size());
        byte[] codes = new byte[buckets.size()];
        Arrays.fill(codes, ScriptCall.RENEW.code());
        arguments.add(codes);
        for (List<? extends ScriptInput.Holding> bucket : buckets) {
            arguments.add(limit(bucket.get(0).charge().limit()));
            arguments.add(ascii(bucket.stream()
                    .map(hold -> holding(bounded(hold.charge()), hold.holder()))
                    .collect(Collectors.joining(","))));
        }
        return arguments.toArray(byte[][]::new);
    }

    private static boolean chargesAlike(ScriptInput before, ScriptInput call) {
        return isPlain(before)
                && isPlain(call)
                && before.charges().get(0).permits() == call.charges().get(0).permits()
                && before.charges().get(0).limit().equals(call.charges().get(0).limit());
    }

    private static boolean isPlain(ScriptInput call) {
        return call.call() == ScriptCall.CHARGE && call.charges().size() == 1;
    }

    /**
     * Encodes a refund of charges.
     *
     * @param receipts one for each charge
     */
    public byte[][] refundArguments(List<Charge> charges, List<Receipt> receipts) {
        List<byte[]> amounts = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            amounts.add(refund(charges.get(i), charges.get(i).permits(), receipts.get(i)));
        }
        return settleArguments(charges, amounts);
    }

    /**
     * Encodes settlements, in a run of its own.
     *
     * @param amounts what is {@linkplain #refund refunded} or {@linkplain #forced charged}, for each charge
     */
    public byte[][] settleArguments(List<Charge> charges, List<byte[]> amounts) {
        byte[][] arguments = arguments(ScriptCall.SETTLE, charges);
        for (int i = 0; i < charges.size(); i++) {
            arguments[2 + 2 * i] = amounts.get(i);
        }
        return arguments;
    }

    /** Encodes a refund of a part of a charge. */
    public byte[] refund(Charge charge, long permits, Receipt receipt) {
        String part = permits == charge.permits() ? "" : permits + "/";
        return ascii(part + charge.permits() + ":" + receipt.used() + ":" + receipt.since() + ":" + receipt.rest() + ":"
                + receipt.time());
    }

    /** Encodes a charge that is made even beyond the capacity. */
    public static byte[] forced(Charge charge) {
        return ascii("+" + charge.permits());
    }

    /** Encodes an operator's change of a bucket, in a run of its own. A reset is one of permits that calls hold. */
    public byte[][] changeArguments(Charge bucket, BucketChange change) {
        byte[][] arguments = arguments(ScriptCall.CHANGE, List.of(bucket));
        arguments[2] = ascii(
                switch (change.kind()) {
                    case NONE -> "";
                    case GRANT -> "g" + change.amount();
                    case BLOCK -> "b" + change.amount();
                    case UNBLOCK -> "u";
                    case RESET -> "r";
                });
        return arguments;
    }

    private void add(ScriptCall call, List<Charge> charges, long more, List<byte[]> arguments, int first) {
        byte[] codes = arguments.get(0);
        int at = first;
        for (Charge charge : charges) {
            codes[at] = at == first ? call.code() : FURTHER;
            arguments.add(limit(charge.limit()));
            arguments.add(permits(call, charge, more));
            at++;
        }
    }

    /** Names the calendar windows around a time of the server from now on. */
    public void renewWindows(List<Charge> charges, long micros) {
        for (Charge charge : charges) {
            CalendarWindows windows = charge.limit().numbers().calendar();
            if (windows != null) {
                limits.put(charge.limit(), ascii(RuleCodec.withOptions(charge.limit(), windows, micros)));
            }
        }
    }

    private byte[] limit(RateLimit limit) {
        byte[] known = limits.get(limit);
        return known != null ? known : encoded(limit);
    }

    private byte[] encoded(RateLimit limit) {
        if (limits.size() >= MOST_LIMITS) {
            limits.clear();
        }
        return limits.computeIfAbsent(limit, unknown -> ascii(RuleCodec.withOptions(unknown)));
    }

    /** A holder is that of limits whose permits calls hold. */
    private byte[] permits(ScriptCall call, Charge charge, long more) {
        long permits = bounded(charge);
        if (call == ScriptCall.LEASE) {
            return ascii(permits + "+" + Math.min(more, charge.limit().capacity()));
        }
        if (call == ScriptCall.RELEASE) {
            return ascii(holding(0, more));
        }
        if (call == ScriptCall.HOLD && !charge.limit().hasRate()) {
            return ascii(holding(permits, more) + (charge.limit().maxWait().isZero() ? "" : WAITS));
        }
        return permits < SMALL.length ? SMALL[(int) permits] : ascii("" + permits);
    }

    /** Bounds the permits, because the script's numbers end at 2^53: more than the capacity is never allowed. */
    private static long bounded(Charge charge) {
        return Math.min(charge.permits(), charge.limit().capacity() + 1);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
