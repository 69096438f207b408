package io.ratelimit.redis;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Decides in Redis: all charges of a call in one script, by the server's clock. */
public final class RedisRateLimitStore implements RateLimitStore {

    private static final byte[] YES = {'1'};

    private static final byte[] NO = {'0'};

    /** How many arguments the script wants for each charge, and how many numbers it replies. */
    private static final int ARGUMENTS = 5;

    private static final int NUMBERS = 4;

    private final RateLimitScriptExecutor executor;

    private final BucketKeys keys;

    /** The arguments of a limit's charges, all but the permits. */
    private final Map<RateLimit, byte[][]> rules = new ConcurrentHashMap<>();

    /** @param keyPrefix what the name of every bucket begins with; no braces */
    public RedisRateLimitStore(RateLimitScriptExecutor executor, String keyPrefix) {
        this.executor = executor;
        this.keys = new BucketKeys(keyPrefix);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return run(charges, YES);
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return start(names(charges), arguments(charges, YES)).handle((reply, thrown) -> {
            if (thrown != null) {
                throw failure(thrown);
            }
            return decisions(charges, reply);
        });
    }

    private CompletionStage<List<Long>> start(List<byte[]> names, byte[][] arguments) {
        try {
            return executor.executeAsync(names, arguments);
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        return run(List.of(charge), NO).get(0);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        try {
            executor.delete(keys.name(limit, key));
        } catch (RuntimeException ex) {
            throw failure(ex);
        }
    }

    private List<RateLimitDecision> run(List<Charge> charges, byte[] charging) {
        List<byte[]> names = names(charges);
        byte[][] arguments = arguments(charges, charging);
        List<Long> reply;
        try {
            reply = executor.execute(names, arguments);
        } catch (RuntimeException ex) {
            throw failure(ex);
        }
        return decisions(charges, reply);
    }

    private List<byte[]> names(List<Charge> charges) {
        if (charges.size() == 1) {
            return List.of(keys.name(charges.get(0).limit(), charges.get(0).key()));
        }
        List<byte[]> names = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            byte[] name = keys.name(charge.limit(), charge.key());
            if (names.stream().anyMatch(other -> Arrays.equals(other, name))) {
                throw new IllegalArgumentException("Two charges of one call are for the same bucket");
            }
            names.add(name);
        }
        return names;
    }

    private byte[][] arguments(List<Charge> charges, byte[] charging) {
        byte[][] arguments = new byte[1 + ARGUMENTS * charges.size()][];
        arguments[0] = charging;
        int at = 1;
        for (Charge charge : charges) {
            System.arraycopy(rule(charge.limit()), 0, arguments, at, ARGUMENTS);
            arguments[at + 1] = permits(charge);
            at += ARGUMENTS;
        }
        return arguments;
    }

    private byte[][] rule(RateLimit limit) {
        byte[][] known = rules.get(limit);
        return known != null ? known : rules.computeIfAbsent(limit, RedisRateLimitStore::encodeRule);
    }

    private static byte[][] encodeRule(RateLimit limit) {
        return new byte[][] {
            RuleText.of(limit).getBytes(StandardCharsets.US_ASCII),
            YES,
            encode(limit.maxWait().toNanos() / 1_000),
            limit.algorithm() == Algorithm.LEAKY_BUCKET ? YES : NO,
            limit.dryRun() ? NO : YES
        };
    }

    /** More than the capacity is too much, however much it is; the script's numbers end at 2^53. */
    private static byte[] permits(Charge charge) {
        return charge.permits() == 1
                ? YES
                : encode(Math.min(charge.permits(), charge.limit().capacity() + 1));
    }

    private static byte[] encode(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    private static List<RateLimitDecision> decisions(List<Charge> charges, List<Long> reply) {
        if (reply.size() != NUMBERS * charges.size()) {
            throw new RateLimitStoreException(Reason.ERROR, "Redis: the reply has " + reply.size() + " numbers", null);
        }
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        int at = 0;
        for (Charge charge : charges) {
            decisions.add(RateLimitDecision.ofMicros(
                    charge.limit().capacity(), reply.get(at), reply.get(at + 1), reply.get(at + 2), reply.get(at + 3)));
            at += NUMBERS;
        }
        return decisions;
    }

    private static RateLimitStoreException failure(Throwable thrown) {
        Throwable root = thrown;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            // By name, because drivers have exceptions of their own for it.
            if (cause.getClass().getSimpleName().endsWith("TimeoutException")) {
                return new RateLimitStoreException(Reason.TIMEOUT, "Redis: no answer in time", thrown);
            }
            root = cause;
        }
        String message = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
        return new RateLimitStoreException(Reason.ERROR, "Redis: " + message, thrown);
    }
}
