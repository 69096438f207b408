package io.ratelimit.simulation;

import io.ratelimit.expression.CallEnd;
import jakarta.servlet.DispatcherType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.StandardServletAsyncWebRequest;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Methods with a cost known afterwards that return emitters, whose handlers do not care whether the client is there. */
@SuppressWarnings("IntLongMath") // Small numbers.
final class EmitterEvents {

    private final Random random;

    private final SimulatedTime time;

    private final SimulatedContainer container;

    private final Consumer<String> notes;

    private final List<Followed> followed = new ArrayList<>();

    EmitterEvents(Random random, SimulatedTime time, SimulatedContainer container, Consumer<String> notes) {
        this.random = random;
        this.time = time;
        this.container = container;
        this.notes = notes;
    }

    /** A call whose cost is known when its response is written. */
    private static final class Followed implements CallEnd {

        private int ends;

        private long due = Long.MAX_VALUE;

        @Override
        public void add(@Nullable Object result) {}

        @Override
        public void completed() {
            ends++;
        }

        @Override
        public void failed(Throwable failure) {
            ends++;
        }

        @Override
        public void cancelled() {
            ends++;
        }

        @Override
        public void written(Object result, @Nullable Throwable failure) {
            ends++;
        }
    }

    /** A method with a cost known afterwards returns an emitter, whose client goes, and whose handler does not care. */
    void begin() throws Exception {
        SimulatedRequest request = new SimulatedRequest("/other");
        Followed end = new Followed();
        boolean tells = random.nextBoolean();
        notes.accept(
                "a call returns an emitter, and the container " + (tells ? "tells its end" : "does not tell its end"));
        container.dispatch(request, DispatcherType.REQUEST, () -> {
            SseEmitter emitter = new SseEmitter(WebHistory.TIMEOUT);
            if (!container.follow(emitter, end)) {
                throw new AssertionError("the end of an emitter is not followed");
            }
            WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
            manager.setAsyncWebRequest(new StandardServletAsyncWebRequest(request, request.response));
            manager.startDeferredResultProcessing(new DeferredResult<>(WebHistory.TIMEOUT));
        });
        end.due = time.micros() + (tells ? 0 : WebHistory.GRACE.toNanos() / 1_000);
        followed.add(end);
        if (tells) {
            request.complete();
        } else {
            request.disconnect();
            request.recycle();
        }
    }

    /** Each call must have been settled some time after its end. */
    void check() {
        for (Followed call : followed) {
            if (time.micros() >= call.due && call.ends == 0) {
                throw new AssertionError("a cost is never settled: its request has been over for a long time");
            }
        }
    }
}
