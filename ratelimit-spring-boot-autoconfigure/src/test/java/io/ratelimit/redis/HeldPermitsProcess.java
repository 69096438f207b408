package io.ratelimit.redis;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.ChildJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** An instance of an application whose calls hold permits until the test says so, in a JVM of its own or in that of the test. */
final class HeldPermitsProcess {

    static final String KEY = "alice";

    private final RateLimiter limiter;

    private final MeterRegistry meters;

    private final CompletableFuture<Void> end = new CompletableFuture<>();

    private final List<CompletableFuture<Void>> calls = new ArrayList<>();

    private HeldPermitsProcess(AnnotationConfigApplicationContext context) {
        this.limiter = context.getBean(RateLimiterRegistry.class).get("exports");
        this.meters = context.getBean(MeterRegistry.class);
    }

    /**
     * Holds permits, and tells what was lost, as the test says.
     *
     * @param args host, port, key prefix, capacity, and the hold
     */
    public static void main(String[] args) throws IOException {
        HeldPermitsProcess process = new HeldPermitsProcess(
                start(args[0], Integer.parseInt(args[1]), args[2], Long.parseLong(args[3]), args[4]));
        ChildJvm.answerAll(line -> {
            String[] words = line.split(" ", -1);
            return switch (words[0]) {
                case "hold" -> process.hold(Integer.parseInt(words[1]));
                case "end" -> process.end();
                case "lost" -> process.lost();
                default -> throw new IllegalArgumentException(line);
            };
        });
    }

    static AnnotationConfigApplicationContext start(String host, int port, String prefix, long capacity, String hold) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(
                        "ratelimit.redis.key-prefix=" + prefix,
                        "ratelimit.redis.timeout=10s",
                        "ratelimit.on-store-failure=throw",
                        "ratelimit.limits.exports.algorithm=concurrency",
                        "ratelimit.limits.exports.capacity=" + capacity,
                        "ratelimit.limits.exports.hold=" + hold)
                .applyTo(context);
        context.registerBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory(host, port));
        context.registerBean(SimpleMeterRegistry.class);
        context.register(RateLimitAutoConfiguration.class);
        context.refresh();
        return context;
    }

    /** Begins calls: each holds a permit. */
    private String hold(int number) {
        for (int i = 0; i < number; i++) {
            CompletableFuture<Void> begun = new CompletableFuture<>();
            CompletableFuture<Void> call = limiter.callAsync(KEY, () -> {
                        begun.complete(null);
                        return end;
                    })
                    .toCompletableFuture();
            CompletableFuture.anyOf(begun, call).join();
            calls.add(call);
        }
        return "" + calls.size();
    }

    /** Lets all calls end, and returns how many were under way. */
    private String end() {
        long running = calls.stream().filter(call -> !call.isDone()).count();
        end.complete(null);
        calls.forEach(CompletableFuture::join);
        return "" + running;
    }

    private String lost() {
        return "" + (long) meters.get("ratelimit.concurrency.lost").counter().count();
    }
}
