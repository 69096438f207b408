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

    private volatile int dispatches;

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

    /** Records that the current thread handles the request. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // Dispatches follow one another.
    void begin(HttpServletRequest request, HttpServletResponse response) {
        dispatches++;
        handling = new Handling(Thread.currentThread(), request, response);
    }

    /** Records that no thread handles the request. */
    void end() {
        handling = null;
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

    ChargedBuckets.Dispatch dispatch(HttpServletRequest request) {
        return ChargedBuckets.Dispatch.of(request, dispatches);
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
