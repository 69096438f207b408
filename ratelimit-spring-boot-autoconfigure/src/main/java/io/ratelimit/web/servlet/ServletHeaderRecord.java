package io.ratelimit.web.servlet;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.web.QuotaStatus;
import io.ratelimit.web.QuotaStatuses;
import io.ratelimit.web.RateLimitHeaders;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What has come to pass with the limits during one servlet request. Containers use a response again for the next request,
 * and no two threads may use it at once. So only the thread writes to it that handles the request, while it does.
 */
final class ServletHeaderRecord {

    private static final String ATTRIBUTE = ServletHeaderRecord.class.getName();

    private final QuotaStatuses standings = new QuotaStatuses();

    private final ChargedBuckets payments = new ChargedBuckets();

    /** Set by the thread that handles the request, and read by others only to see that it is not theirs. */
    private volatile @Nullable Handling handling;

    private volatile int dispatches;

    private ServletHeaderRecord() {}

    /** The request's record. */
    static ServletHeaderRecord of(HttpServletRequest request) {
        if (request.getAttribute(ATTRIBUTE) instanceof ServletHeaderRecord there) {
            return there;
        }
        ServletHeaderRecord created = new ServletHeaderRecord();
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
    void addIfAbsent(QuotaStatus standing) {
        standings.addIfAbsent(standing);
    }

    void refund(List<Charge> charges) {
        payments.remove(charges);
    }

    /** Writes what has been added, if it is for this thread and not too late. */
    void write(RateLimitHeaders fields) {
        Handling now = handling;
        if (now != null
                && now.thread() == Thread.currentThread()
                && !now.request().isAsyncStarted()) {
            write(fields, now.response());
        }
    }

    /** Writes what has been added, if it is not too late; the current thread handles the request. */
    void write(RateLimitHeaders fields, HttpServletResponse response) {
        if (!response.isCommitted()) {
            fields.write(standings.allIfChanged(), response::setHeader);
        }
    }

    private record Handling(Thread thread, HttpServletRequest request, HttpServletResponse response) {}
}
