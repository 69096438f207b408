package io.ratelimit.web.servlet;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Watchdog;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends requests that wait for another thread and are over, although the container does not tell: Tomcat tells no end of some
 * requests whose client disconnects during a write. The watchdog checks the requests of an application together.
 */
final class OpenRequests {

    /** How late a container may be: to end a request after its timeout, and to find a thread for a dispatch. */
    static final Duration GRACE = Duration.ofSeconds(30);

    private final Map<RequestCompletion, OpenRequest> requests = new ConcurrentHashMap<>();

    private final AtomicBoolean watched = new AtomicBoolean();

    private final Consumer<OpenRequests> watchdog;

    private final LongSupplier nanoTime;

    private final Executor threads;

    OpenRequests() {
        this(
                requests -> Watchdog.shared().watch(requests, OpenRequests::check),
                System::nanoTime,
                DaemonThreads.createOnDemand("ratelimit-request-end", 2));
    }

    /**
     * @param watchdog calls {@link #check} once a second from now on
     * @param threads run what follows the end of a request, such as an expression of the application
     */
    OpenRequests(Consumer<OpenRequests> watchdog, LongSupplier nanoTime, Executor threads) {
        this.watchdog = watchdog;
        this.nanoTime = nanoTime;
        this.threads = threads;
    }

    /** @param timeout of the asynchronous processing, in milliseconds; 0 or negative: none */
    void add(RequestCompletion completion, ServletHeaderRecord record, HttpServletRequest request, long timeout) {
        Long deadline = timeout > 0 ? after(Duration.ofMillis(timeout).plus(GRACE)) : null;
        requests.put(completion, new OpenRequest(record, request, deadline));
        if (completion.isOver()) {
            remove(completion);
        }
        if (watched.compareAndSet(false, true)) {
            watchdog.accept(this);
        }
    }

    void remove(RequestCompletion completion) {
        requests.remove(completion);
    }

    /** Ends all, when the application stops. */
    void close() {
        List.copyOf(requests.keySet()).forEach(RequestCompletion::end);
    }

    /** Ends the requests that are over. Returns nothing to log, because containers do forget. */
    @Nullable
    String check() {
        requests.forEach((completion, request) -> {
            if (request.isFoundOver(completion)) {
                end(completion, request);
            }
        });
        return null;
    }

    private void end(RequestCompletion completion, OpenRequest request) {
        remove(completion);
        try {
            threads.execute(completion::end);
        } catch (Throwable ex) {
            // No thread could be started. The next check tries again.
            requests.put(completion, request);
        }
    }

    private long after(Duration duration) {
        return nanoTime.getAsLong() + duration.toNanos();
    }

    /** A request that waits. The watchdog alone changes it. */
    private final class OpenRequest {

        private final ServletHeaderRecord record;

        private final HttpServletRequest request;

        /** {@code null}: none. */
        private @Nullable Long deadline;

        private boolean dispatched;

        private boolean suspected;

        OpenRequest(ServletHeaderRecord record, HttpServletRequest request, @Nullable Long deadline) {
            this.record = record;
            this.request = request;
            this.deadline = deadline;
        }

        /** Returns whether two checks in a row find the request over: meanwhile the container may tell. */
        boolean isFoundOver(RequestCompletion completion) {
            boolean known = suspected;
            suspected = completion.hasFailedWrite() || isRecycled() || isOverdue();
            return suspected && known;
        }

        /** Returns whether the container has discarded the request, or uses it for another one. */
        private boolean isRecycled() {
            try {
                return !record.isOf(request);
            } catch (IllegalStateException ex) {
                return true;
            } catch (RuntimeException ex) {
                // A container may fail like this while it recycles the request.
                return false;
            }
        }

        private boolean isOverdue() {
            if (!dispatched && !isAsyncStarted()) {
                dispatched = true;
                deadline = after(GRACE);
            }
            return deadline != null && nanoTime.getAsLong() - deadline >= 0;
        }

        private boolean isAsyncStarted() {
            try {
                return request.isAsyncStarted();
            } catch (RuntimeException ex) {
                return false;
            }
        }
    }
}
