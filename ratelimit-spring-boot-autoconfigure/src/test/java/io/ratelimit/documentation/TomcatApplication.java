package io.ratelimit.documentation;

import io.ratelimit.documentation.RequestStage.Streams;
import io.ratelimit.testing.OwnAlgorithms;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.coyote.http2.Http2Protocol;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.tomcat.TomcatConnectorCustomizer;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Handlers to which the events of servlet requests happen. Later dispatches call a method with the limit of the request. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({OwnAlgorithms.Batches.class, Streams.class, TomcatApplication.Calls.class, TomcatApplication.Handlers.class})
class TomcatApplication {

    @Bean
    Collector<Object, ?, Integer> cost() {
        return Collectors.reducing(0, used -> 2, (one, other) -> 2);
    }

    /** Tomcat closes a connection whose client cancels many requests. */
    @Bean
    TomcatConnectorCustomizer patience() {
        return connector -> Stream.of(connector.findUpgradeProtocols())
                .forEach(protocol -> ((Http2Protocol) protocol).setOverheadResetFactor(0));
    }

    static class Calls {

        public Object costs(Object response) {
            return response;
        }

        public Object fails(Object response) {
            if (response instanceof SseEmitter) {
                return response;
            }
            throw new IllegalStateException("expected by the test");
        }

        public Object again(Object response) {
            return response;
        }
    }

    @RestController
    static class Handlers implements ErrorController {

        private final Calls calls;

        private final Streams streams;

        Handlers(Calls calls, Streams streams) {
            this.calls = calls;
            this.streams = streams;
        }

        @GetMapping("/events/{event}")
        public @Nullable Object first(
                @PathVariable String event,
                @RequestHeader("X-Feature") String feature,
                HttpServletRequest request,
                HttpServletResponse response)
                throws Exception {
            switch (event) {
                case "time-out" -> {
                    return call(feature, stream(Streams.TIMEOUT.toMillis()));
                }
                case "cancel", "disconnect" -> {
                    return call(feature, stream(0));
                }
                default -> call(feature, event);
            }
            switch (event) {
                case "forward" -> request.getRequestDispatcher("/again").forward(request, response);
                case "include" -> request.getRequestDispatcher("/again").include(request, response);
                case "async" -> request.startAsync().dispatch("/again");
                case "error" -> throw new IllegalArgumentException("expected by the test");
                default -> {
                    return event;
                }
            }
            return null;
        }

        /** The path of the error page, too. */
        @RequestMapping({"/again", "/error"})
        public Object again(@RequestHeader("X-Feature") String feature) {
            return calls.again(call(feature, "again"));
        }

        private Object call(String feature, Object result) {
            try {
                return switch (feature) {
                    case "permitsAfter" -> calls.costs(result);
                    case "refundOn" -> calls.fails(result);
                    default -> result;
                };
            } catch (IllegalStateException ex) {
                return "failed";
            }
        }

        private SseEmitter stream(long timeout) throws IOException {
            SseEmitter emitter = new SseEmitter(timeout);
            emitter.send("first");
            Runnable write = new Runnable() {

                @Override
                public void run() {
                    try {
                        emitter.send("more");
                    } catch (IOException | IllegalStateException ex) {
                        streams.open.remove(this);
                    }
                }
            };
            streams.open.add(write);
            emitter.onCompletion(() -> streams.open.remove(write));
            return emitter;
        }
    }
}
