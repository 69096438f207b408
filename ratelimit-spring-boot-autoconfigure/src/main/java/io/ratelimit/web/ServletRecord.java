package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What has come to pass with the limits during one servlet request. Containers use a response again for the next request,
 * and no two threads may use it at once. So only the thread writes to it that handles the request, while it does.
 */
final class ServletRecord {

    private static final String ATTRIBUTE = ServletRecord.class.getName();

    private final Standings standings = new Standings();

    private final Payments payments = new Payments();

    /** Set by the thread that handles the request, and read by others only to see that it is not theirs. */
    private volatile @Nullable Handling handling;

    private volatile int dispatches;

    private ServletRecord() {}

    /** The request's record. */
    static ServletRecord of(HttpServletRequest request) {
        if (request.getAttribute(ATTRIBUTE) instanceof ServletRecord there) {
            return there;
        }
        ServletRecord created = new ServletRecord();
        request.setAttribute(ATTRIBUTE, created);
        return created;
    }

    /** From now on the current thread handles the request. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // Dispatches follow one another.
    void begin(HttpServletRequest request, HttpServletResponse response) {
        dispatches++;
        handling = new Handling(Thread.currentThread(), request, response);
    }

    /** From now on nobody handles it. */
    void end() {
        handling = null;
    }

    Dispatch dispatch(HttpServletRequest request) {
        return Dispatch.of(request, dispatches);
    }

    List<Charge> unpaid(List<Charge> charges, Dispatch dispatch) {
        return payments.unpaid(charges, dispatch);
    }

    void add(List<Charge> charges, List<RateLimitDecision> decisions, Dispatch dispatch) {
        payments.add(charges, decisions, dispatch);
        standings.add(charges, decisions);
    }

    /** Written before the body of the answer. */
    void addIfUnknown(Standing standing) {
        standings.addIfUnknown(standing);
    }

    void refund(List<Charge> charges) {
        payments.remove(charges);
    }

    /** Writes what has been added, if it is for this thread and not too late. */
    void write(ResponseFields fields) {
        Handling now = handling;
        if (now != null
                && now.thread() == Thread.currentThread()
                && !now.request().isAsyncStarted()) {
            write(fields, now.response());
        }
    }

    /** Writes what has been added, if it is not too late; the current thread handles the request. */
    void write(ResponseFields fields, HttpServletResponse response) {
        if (!response.isCommitted()) {
            fields.write(standings.news(), response::setHeader);
        }
    }

    private record Handling(Thread thread, HttpServletRequest request, HttpServletResponse response) {}
}
