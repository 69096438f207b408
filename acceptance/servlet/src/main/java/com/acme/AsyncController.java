package com.acme;

import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Answers in each way that a servlet application can. The paths are also limited by rules in limits.yml. */
@RestController
@RequestMapping("/ends/{store}")
@RateLimited(
        name = "ends",
        algorithm = Algorithm.FIXED_WINDOW,
        rate = "1000000/d",
        keyExpression = "#key",
        permitsAfter = "@calls.settled(#key, #exception)")
public class AsyncController {

    private static final byte[] CHUNK = new byte[64 * 1024];

    private final Scheduler scheduler = Schedulers.boundedElastic();

    private final Calls calls;

    public AsyncController(Calls calls) {
        this.calls = calls;
    }

    @GetMapping("/plain/{key}")
    public String plain(@PathVariable String key) {
        begin(key);
        return "plain";
    }

    @GetMapping("/emitter/{key}")
    public SseEmitter emitter(@PathVariable String key, @RequestParam(defaultValue = "false") boolean endless) {
        begin(key);
        SseEmitter emitter = new SseEmitter();
        write(emitter, endless ? -1 : 20, emitter::completeWithError);
        return emitter;
    }

    /** Leaves it to the server to complete an emitter whose client has gone. */
    @GetMapping("/swallowing/{key}")
    public SseEmitter swallowing(@PathVariable String key, @RequestParam(defaultValue = "false") boolean endless) {
        begin(key);
        SseEmitter emitter = new SseEmitter();
        write(emitter, endless ? -1 : 20, failure -> {});
        return emitter;
    }

    private void write(SseEmitter emitter, int events, Consumer<IOException> onFailure) {
        scheduler.schedule(
                () -> {
                    try {
                        if (events == 0) {
                            emitter.complete();
                            return;
                        }
                        emitter.send("event");
                        write(emitter, events - 1, onFailure);
                    } catch (IOException ex) {
                        onFailure.accept(ex);
                    } catch (IllegalStateException ex) {
                        // Completed meanwhile.
                    }
                },
                5,
                TimeUnit.MILLISECONDS);
    }

    @GetMapping("/body/{key}")
    public StreamingResponseBody body(
            @PathVariable String key, @RequestParam(defaultValue = "false") boolean endless) {
        begin(key);
        return output -> {
            for (int i = 0; i < 16; i++) {
                output.write(CHUNK);
                output.flush();
            }
            if (endless) {
                untilInterrupted();
            }
        };
    }

    @GetMapping("/deferred/{key}")
    public DeferredResult<String> deferred(
            @PathVariable String key, @RequestParam(defaultValue = "false") boolean endless) {
        begin(key);
        DeferredResult<String> result = new DeferredResult<>();
        if (!endless) {
            scheduler.schedule(() -> result.setResult("deferred"), 5, TimeUnit.MILLISECONDS);
        }
        return result;
    }

    /** If it is cancelled, the estimate is the cost. */
    @GetMapping("/callable/{key}")
    public Callable<String> callable(
            @PathVariable String key, @RequestParam(defaultValue = "false") boolean endless) {
        calls.admitted(key);
        return () -> {
            if (endless) {
                untilInterrupted();
            }
            calls.toSettle(key);
            return "callable";
        };
    }

    private void begin(String key) {
        calls.admitted(key);
        calls.toSettle(key);
    }

    /** Ends by itself if the server does not tell it to. */
    private static void untilInterrupted() throws IOException {
        try {
            new CountDownLatch(1).await(30, TimeUnit.SECONDS);
        } catch (InterruptedException ex) {
            throw new IOException(ex);
        }
    }
}
