package io.ratelimit.web.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs actions once, when a request is over: its thread has returned, its asynchronous processing is complete, or
 * {@link OpenRequests} finds out. The actions release permits and settle calls.
 */
final class RequestCompletion implements AsyncListener {

    private static final System.Logger logger = System.getLogger("io.ratelimit.web");

    private final ServletHeaderRecord record;

    /** {@code null}: the application has no {@link RateLimitHeadersFilter}. */
    private final @Nullable OpenRequests open;

    /** {@code null}: the request is over. */
    private @Nullable List<Runnable> actions = new ArrayList<>(2);

    private volatile boolean writeFailed;

    private volatile boolean failed;

    /** What the client gets as far as is known. The response itself may belong to another request when the end is found out. */
    private volatile int status = HttpServletResponse.SC_OK;

    RequestCompletion(ServletHeaderRecord record, @Nullable OpenRequests open) {
        this.record = record;
        this.open = open;
    }

    /** Has the action run when the request is over, whichever thread calls. */
    static void follow(HttpServletRequest request, Runnable action) {
        ServletHeaderRecord record = ServletHeaderRecord.of(request);
        RequestCompletion completion = record.completion();
        completion.add(action);
        if (record.isWaiting()) {
            completion.awaitEnd(request);
        }
    }

    void add(Runnable action) {
        synchronized (this) {
            if (actions != null) {
                actions.add(action);
                return;
            }
        }
        action.run();
    }

    synchronized boolean isOver() {
        return actions == null;
    }

    /**
     * Ends the request when its thread has returned, unless it goes on asynchronously.
     *
     * @param answer the status of the response; {@code null}: there is an exception for the container
     */
    void returned(HttpServletRequest request, @Nullable Integer answer) {
        failed = answer == null;
        status = answer == null ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR : answer;
        awaitEnd(request);
    }

    /** Ends the request now, or when its asynchronous processing is complete. */
    void awaitEnd(HttpServletRequest request) {
        try {
            if (request.isAsyncStarted()) {
                AsyncContext context = request.getAsyncContext();
                context.addListener(this);
                if (open != null) {
                    open.add(this, record, request, context.getTimeout());
                }
                return;
            }
        } catch (IllegalStateException ex) {
            // Asynchronous processing has ended meanwhile.
        }
        end();
    }

    /** Returns the status that the client gets. */
    int status() {
        return status;
    }

    /** Notes that the client can no longer be written to. */
    void writeFailed() {
        writeFailed = true;
    }

    boolean hasFailedWrite() {
        return writeFailed;
    }

    void end() {
        List<Runnable> ended;
        synchronized (this) {
            if (actions == null) {
                return;
            }
            ended = actions;
            actions = null;
        }
        if (open != null) {
            open.remove(this);
        }
        for (Runnable action : ended) {
            try {
                action.run();
            } catch (Throwable ex) {
                logger.log(Level.WARNING, "The end of a request could not be handled; it may have left permits", ex);
            }
        }
    }

    /** Called after a timeout and an error, too, unless the container forgets. Another thread may have set the status. */
    @Override
    public void onComplete(AsyncEvent event) {
        if (!failed && event.getSuppliedResponse() instanceof HttpServletResponse response) {
            status = response.getStatus();
        }
        end();
    }

    @Override
    public void onTimeout(AsyncEvent event) {}

    @Override
    public void onError(AsyncEvent event) {}

    /** A dispatch has started asynchronous processing again, which has no listeners yet. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }
}
