package io.ratelimit.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionService;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods without parameters that wait for another thread, for as long as it takes. */
final class UntimedWaits {

    private static final Map<Class<?>, Set<String>> METHODS = Map.ofEntries(
            Map.entry(Object.class, Set.of("wait")),
            Map.entry(Thread.class, Set.of("join")),
            Map.entry(Process.class, Set.of("waitFor")),
            Map.entry(Future.class, Set.of("get")),
            Map.entry(CompletableFuture.class, Set.of("join")),
            Map.entry(ForkJoinTask.class, Set.of("join", "invoke")),
            Map.entry(CompletionService.class, Set.of("take")),
            Map.entry(BlockingQueue.class, Set.of("take")),
            Map.entry(BlockingDeque.class, Set.of("takeFirst", "takeLast")),
            Map.entry(CountDownLatch.class, Set.of("await")),
            Map.entry(CyclicBarrier.class, Set.of("await")),
            Map.entry(Condition.class, Set.of("await", "awaitUninterruptibly")),
            Map.entry(Semaphore.class, Set.of("acquire", "acquireUninterruptibly")),
            Map.entry(LockSupport.class, Set.of("park")),
            Map.entry(ExecutorService.class, Set.of("close")),
            Map.entry(Mono.class, Set.of("block", "blockOptional")),
            Map.entry(Flux.class, Set.of("blockFirst", "blockLast", "toIterable", "toStream")));

    static final DescribedPredicate<JavaAccess<?>> PREDICATE =
            DescribedPredicate.describe("waits without a deadline", UntimedWaits::contains);

    private UntimedWaits() {}

    private static boolean contains(JavaAccess<?> access) {
        return access.getTarget() instanceof CodeUnitAccessTarget target
                && target.getRawParameterTypes().isEmpty()
                && METHODS.entrySet().stream()
                        .anyMatch(method -> method.getValue().contains(target.getName())
                                && target.getOwner().isAssignableTo(method.getKey()));
    }
}
