package io.ratelimit.web.servlet;

import io.ratelimit.limiter.Settlement;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;

/** Releases the permits that a request holds when its response is complete, also if another thread completes it. */
final class RequestPermits implements AsyncListener {

    private final Settlement settlement;

    private RequestPermits(Settlement settlement) {
        this.settlement = settlement;
    }

    /** Releases the permits now, or at the end of asynchronous processing. Called when the handler of the request has returned. */
    static void releaseAtEnd(ServletRequest request, Settlement settlement) {
        if (settlement.holdsPermits()) {
            new RequestPermits(settlement).releaseAtEnd(request);
        }
    }

    private void releaseAtEnd(ServletRequest request) {
        try {
            if (request.isAsyncStarted()) {
                request.getAsyncContext().addListener(this);
                return;
            }
        } catch (IllegalStateException ex) {
            // Asynchronous processing has ended meanwhile.
        }
        settlement.release();
    }

    /** Called in every case, after a timeout and an error, too. */
    @Override
    public void onComplete(AsyncEvent event) {
        settlement.release();
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
