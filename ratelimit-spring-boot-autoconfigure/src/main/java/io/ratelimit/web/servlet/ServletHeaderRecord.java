package io.ratelimit.web.servlet;

import io.ratelimit.web.HeaderRecord;
import io.ratelimit.web.RateLimitHeaders;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/**
 * Records what limits have decided and charged during one servlet request. Containers reuse a response for the next request,
 * and two threads must not use it at once, so only the thread that handles the request writes to it, while it does.
 */
final class ServletHeaderRecord extends HeaderRecord {

    private static final String ATTRIBUTE = ServletHeaderRecord.class.getName();

    private final ChargedBuckets chargedBuckets = new ChargedBuckets();

    /** Set by the thread that handles the request. Other threads only compare the thread. */
    private volatile @Nullable Handling handling;

    /** The number of the container's pass through the filters that is under way. */
    private volatile int pass = ChargedBuckets.FIRST;

    private int passes = ChargedBuckets.FIRST;

    /** {@code null}: nothing follows the end of the request. */
    private volatile @Nullable RequestCompletion completion;

    /** Those of the application; {@code null} without a {@link RateLimitHeadersFilter}. */
    private volatile @Nullable OpenRequests openRequests;

    private volatile @Nullable RuntimeException sentToErrorPage;

    private ServletHeaderRecord() {}

    /** Returns the request's record, and creates it on first use. */
    static ServletHeaderRecord of(HttpServletRequest request) {
        if (request.getAttribute(ATTRIBUTE) instanceof ServletHeaderRecord existing) {
            return existing;
        }
        ServletHeaderRecord created = new ServletHeaderRecord();
        request.setAttribute(ATTRIBUTE, created);
        return created;
    }

    /** Returns whether this is the record of the request, which a container may have recycled. */
    boolean isOf(HttpServletRequest request) {
        return request.getAttribute(ATTRIBUTE) == this;
    }

    /** Records that the current thread handles the request. */
    void begin(HttpServletRequest request, HttpServletResponse response, OpenRequests open) {
        // The record has begun in the first pass, if not before the filter.
        pass = openRequests == null ? passes : ++passes;
        handling = new Handling(Thread.currentThread(), request, response);
        openRequests = open;
        RequestCompletion followed = completion;
        if (followed != null) {
            open.remove(followed);
        }
    }

    /**
     * Records that no thread handles the request.
     *
     * @param answer the status of the response; {@code null}: there is an exception for the container
     */
    void end(HttpServletRequest request, @Nullable Integer answer) {
        handling = null;
        RequestCompletion followed = completion;
        if (followed != null) {
            followed.returned(request, answer);
        }
    }

    /** Returns whether {@link #end} will be called, by the outermost filter. */
    boolean isHandled() {
        return handling != null;
    }

    /** Returns whether the request waits for a thread to handle it, or is over. */
    boolean isWaiting() {
        return openRequests != null && handling == null;
    }

    /** Returns what is told of the end of the request, and creates it on first use, or for an error page. */
    synchronized RequestCompletion completion() {
        RequestCompletion known = completion;
        if (known == null || (known.isOver() && handling != null)) {
            known = new RequestCompletion(this, openRequests);
            completion = known;
        }
        return known;
    }

    /** Returns what is told of the end of the request; {@code null}: nothing. */
    @Nullable
    RequestCompletion followed() {
        return completion;
    }

    /** Records that the container is to answer the exception with an error page. */
    void sendToErrorPage(RuntimeException exception) {
        sentToErrorPage = exception;
    }

    /** Returns the exception whose error page this dispatch of the request is for, if any. */
    @Nullable
    RuntimeException ofErrorPage(HttpServletRequest request) {
        return request.getDispatcherType() == DispatcherType.ERROR ? sentToErrorPage : null;
    }

    int pass() {
        return pass;
    }

    /** Begins a pass within another one, for a forward or an include. Returns the number of the outer one. */
    int enterPass() {
        int outer = pass;
        pass = ++passes;
        return outer;
    }

    void leavePass(int outer) {
        pass = outer;
    }

    ChargedBuckets chargedBuckets() {
        return chargedBuckets;
    }

    /** Writes new statuses if the current thread handles the request and the response is not committed. */
    void write(RateLimitHeaders headers) {
        Handling now = handling;
        if (now != null
                && now.thread() == Thread.currentThread()
                && !now.request().isAsyncStarted()) {
            write(headers, now.response(), now.response().getStatus());
        }
    }

    /** Writes new statuses if the response is not committed. To be called by the thread that uses the response. */
    void write(RateLimitHeaders headers, HttpServletResponse response, int status) {
        if (!response.isCommitted()) {
            boolean rejection = status == HttpStatus.TOO_MANY_REQUESTS.value();
            write(headers, rejection && !response.containsHeader(HttpHeaders.RETRY_AFTER), response::setHeader);
        }
    }

    private record Handling(Thread thread, HttpServletRequest request, HttpServletResponse response) {}
}
