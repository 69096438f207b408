package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** Handlers of a servlet application that answer rejections without Spring's help. */
@Controller
@Import(OwnServletAnswers.Calls.class)
@Profile("own-answers")
class OwnServletAnswers {

    private final Calls calls;

    OwnServletAnswers(Calls calls) {
        this.calls = calls;
    }

    @Bean
    static RouterFunction<ServerResponse> ownFunctional(Calls calls) {
        return RouterFunctions.route()
                .GET("/own-functional", request -> ServerResponse.ok().body(calls.call()))
                .onError(
                        RateLimitExceededException.class,
                        (rejection, request) -> ServerResponse.status(429).body("functional"))
                .build();
    }

    @GetMapping("/own-sent")
    public void sent(HttpServletResponse response) throws IOException {
        if (isRejected()) {
            response.sendError(429);
        }
    }

    @GetMapping("/own-written")
    public void written(HttpServletResponse response) throws IOException {
        if (isRejected()) {
            response.setStatus(429);
            PrintWriter writer = response.getWriter();
            writer.print("x".repeat(100_000));
        }
    }

    @GetMapping("/own-reset")
    public void reset(HttpServletResponse response) throws IOException {
        if (isRejected()) {
            response.reset();
            response.setStatus(429);
            response.flushBuffer();
        }
    }

    private boolean isRejected() {
        try {
            calls.call();
            return false;
        } catch (RateLimitExceededException rejection) {
            return true;
        }
    }

    static class Calls {

        @RateLimited(name = "blocking-calls", rate = "1/h")
        public String call() {
            return "called";
        }
    }
}
