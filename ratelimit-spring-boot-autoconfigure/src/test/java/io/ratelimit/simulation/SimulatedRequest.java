package io.ratelimit.simulation;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** A request as a container keeps it: it uses the object for another request when this one is over, and may not tell. */
final class SimulatedRequest extends MockHttpServletRequest {

    private boolean recycled;

    private boolean broken;

    /** When the container ends the request, if it waits for another thread until then. */
    long timesOutAt;

    /** What the request holds, as far as the model knows. */
    final List<Take> held = new ArrayList<>();

    /** The response, which cannot be written when the client has gone. */
    final MockHttpServletResponse response = new MockHttpServletResponse() {

        @Override
        public void flushBuffer() {
            if (broken) {
                throw new java.io.UncheckedIOException(new IOException("Broken pipe"));
            }
            super.flushBuffer();
        }
    };

    SimulatedRequest(String path) {
        super("GET", path);
        setAsyncSupported(true);
    }

    /** The client goes. */
    void disconnect() {
        broken = true;
    }

    /** The container is done with the request, and tells no listener. */
    void recycle() {
        recycled = true;
        clearAttributes();
        setAsyncStarted(false);
    }

    /** The container is done with the request, and says so. */
    void complete() {
        MockAsyncContext context = (MockAsyncContext) getAsyncContext();
        if (context != null && isAsyncStarted()) {
            context.complete();
        }
    }

    boolean isRecycled() {
        return recycled;
    }
}
