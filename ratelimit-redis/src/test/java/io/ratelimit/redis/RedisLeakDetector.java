package io.ratelimit.redis;

import static org.awaitility.Awaitility.await;

import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.batch.BatchingDispatcher;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.TestStores;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.test.util.ReflectionTestUtils;

/**
 * Fails every test class that leaves a {@link GuardedRedis} open, of an application or of its own: during the tests of other
 * classes it would go on probing servers that are no longer there, and log what it finds.
 */
public final class RedisLeakDetector implements BeforeAllCallback, AfterAllCallback {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(RedisLeakDetector.class);

    /** A warm-up that is under way at the end of a test closes its own when it is over. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    public void beforeAll(ExtensionContext context) {
        if (isOuter(context)) {
            context.getStore(NAMESPACE).put("before", open());
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (!isOuter(context)) {
            return;
        }
        TestStores.closeAll();
        Set<?> before = context.getStore(NAMESPACE).get("before", Set.class);
        try {
            await().atMost(PATIENCE).until(() -> before.containsAll(open()));
        } catch (ConditionTimeoutException ex) {
            Set<GuardedRedis> left = open();
            left.removeAll(before);
            // Only this class is to fail.
            left.forEach(GuardedRedis::destroy);
            throw new AssertionError(
                    context.getDisplayName() + " leaves " + left.size() + " GuardedRedis open; destroy them", ex);
        }
    }

    /** Classes that are nested share what the outer one has. */
    private static boolean isOuter(ExtensionContext context) {
        return context.getEnclosingTestClasses().isEmpty();
    }

    /** The watchdog knows what sends calls to each of them. */
    static Set<GuardedRedis> open() {
        Collection<?> parts =
                (Collection<?>) Objects.requireNonNull(ReflectionTestUtils.getField(Watchdog.shared(), "parts"));
        return parts.stream()
                .map(part ->
                        ((Reference<?>) Objects.requireNonNull(ReflectionTestUtils.getField(part, "reference"))).get())
                .filter(BatchingDispatcher.class::isInstance)
                .map(sender -> (GuardedRedis) Objects.requireNonNull(ReflectionTestUtils.getField(sender, "redis")))
                .filter(redis -> !redis.isClosed())
                .collect(Collectors.toSet());
    }
}
