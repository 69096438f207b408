package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LongRunning;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;

/** Requests that Tomcat dispatches again, to a handler that counts in the same concurrency limit, of one permit. */
@LongRunning
@Timeout(180)
class DispatchedRequestTests {

    @RegisterExtension
    static final RunningApplication application = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.exports.algorithm=concurrency",
            "ratelimit.limits.exports.capacity=1",
            "ratelimit.http[0].path=/ruled",
            "ratelimit.http[0].limit=exports",
            "ratelimit.http[1].path=/ruled-async",
            "ratelimit.http[1].limit=exports",
            "ratelimit.limits.rated.rate=100/d",
            "ratelimit.limits.narrow.rate=1/d",
            "ratelimit.limits.narrow.permits=2",
            "ratelimit.limits.trial.rate=100/d",
            "ratelimit.limits.trial.dry-run=true",
            "ratelimit.limits.refunded.rate=100/d",
            "ratelimit.limits.refunded.refund-on=java.lang.IllegalStateException",
            "ratelimit.limits.settled.rate=100/d",
            "ratelimit.limits.settled.permits=3",
            "ratelimit.limits.settled.permits-after=#status < 400 ? 0 : 5",
            "ratelimit.http[2].path=/starting",
            "ratelimit.http[2].limit=settled");

    @AfterEach
    void holdsNothingAfterwards() {
        await().until(() -> exports().allCallers().peek().allowed());
        assertThat(handler().leave.availablePermits()).isZero();
    }

    /** The first dispatch has released its permit, so the next one takes one. */
    @ParameterizedTest
    @ValueSource(strings = {"forwarding", "including-after", "dispatching", "failing"})
    void laterDispatchHoldsAPermitOfItsOwn(String path) {
        CompletableFuture<RawHttp.Answer> answer = start(path);
        await().until(() -> handler().inside.get() == 1);
        assertThat(exports().allCallers().peek().allowed()).isFalse();
        assertThat(application.get("forwarding").status()).isEqualTo(429);
        handler().leave.release();
        assertThat(answer.join().status()).isEqualTo("failing".equals(path) ? 500 : 200);
    }

    /** The request holds a permit until after the later dispatch, so that one takes none. */
    @ParameterizedTest
    @ValueSource(strings = {"forwarding-inside", "including-inside", "ruled", "ruled-async"})
    void laterDispatchSharesThePermitThatTheRequestHolds(String path) {
        CompletableFuture<RawHttp.Answer> answer = start(path);
        await().until(() -> handler().inside.get() == 1);
        assertThat(exports().allCallers().peek().allowed()).isFalse();
        handler().leave.release();
        assertThat(answer.join().status()).isEqualTo(200);
    }

    /** Each of them as the first one. */
    @Test
    void laterDispatchThatFindsNoPermitIsRejected() {
        try (RateLimiter.Entry other = exports().allCallers().enter()) {
            assertThat(other).isNotNull();
            assertThat(application.get("unlimited-forward").status()).isEqualTo(429);
        }
    }

    /** The target of the forward forwards to a path that forwards to it again. */
    @Test
    void forwardThatComesBackIsLimitedOnce() {
        assertThat(application.get("circle-of-exports").status()).isEqualTo(200);
        assertThat(application.get("circle-of-rated").status()).isEqualTo(200);
        assertThat(used("rated")).isEqualTo(1);
    }

    @Test
    void chargeBesideARefundedOneCountsForALaterDispatch() {
        assertThat(application.get("refunding").status()).isEqualTo(200);
        assertThat(used("refunded")).isEqualTo(1);
    }

    /** A limit in dry run is charged although another one rejects the call. */
    @Test
    void chargeOfADryRunBesideARejectionCountsForALaterDispatch() {
        assertThat(application.get("rejected-in-part").status()).isEqualTo(200);
        assertThat(used("trial")).isEqualTo(1);
    }

    /** Tomcat tells no end of a request whose handler throws after it has started asynchronous processing. */
    @Test
    void costIsThatOfTheStatusAlthoughTheContainerForgetsTheRequest() throws IOException {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), application.port())) {
            client.getOutputStream()
                    .write("GET /starting HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(client.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                    .isEqualTo("HTTP/1.1 500");
        }
        await().untilAsserted(() -> assertThat(used("settled")).isEqualTo(5));
    }

    private static long used(String limit) {
        return 100 - application.limiter(limit).allCallers().peek().remaining();
    }

    private static CompletableFuture<RawHttp.Answer> start(String path) {
        return CompletableFuture.supplyAsync(() -> application.get(path));
    }

    private static RateLimiter exports() {
        return application.limiter("exports");
    }

    private static Handler handler() {
        return application.bean(Handler.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Handler handler() {
            return new Handler();
        }

        @Bean
        Exports exports(Handler handler) {
            return new Exports(handler);
        }

        @Bean
        Paths paths(Exports exports) {
            return new Paths(exports);
        }

        @Bean
        ErrorPage errorPage(Exports exports) {
            return new ErrorPage(exports);
        }
    }

    /** What the limited handler waits for. */
    static final class Handler {

        private final AtomicInteger inside = new AtomicInteger();

        private final Semaphore leave = new Semaphore(0);

        void run() {
            inside.incrementAndGet();
            try {
                assertThat(leave.tryAcquire(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            } finally {
                inside.decrementAndGet();
            }
        }
    }

    static class Exports {

        private final Handler handler;

        Exports(Handler handler) {
            this.handler = handler;
        }

        @RateLimited("exports")
        public void brief() {}

        @RateLimited("exports")
        public void export() {
            handler.run();
        }

        @RateLimited("trial")
        public void trial() {}

        @RateLimited("narrow")
        @RateLimited("trial")
        public void narrowTrial() {}

        @RateLimited("refunded")
        public void attempt(boolean successful) {
            if (!successful) {
                throw new IllegalStateException("expected by the test");
            }
        }
    }

    @Controller
    static class Paths {

        private final Exports exports;

        Paths(Exports exports) {
            this.exports = exports;
        }

        @GetMapping("/export")
        @ResponseBody
        public String export() {
            exports.export();
            return "done";
        }

        @RateLimited("exports")
        @GetMapping("/forwarding")
        public String forwarding() {
            return "forward:/export";
        }

        @GetMapping({"/ruled", "/unlimited-forward"})
        public String unlimited() {
            return "forward:/export";
        }

        @RateLimited("exports")
        @GetMapping("/forwarding-inside")
        public void forwardingInside(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            request.getRequestDispatcher("/export").forward(request, response);
        }

        @RateLimited("exports")
        @GetMapping("/including-inside")
        public void includingInside(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            request.getRequestDispatcher("/export").include(request, response);
        }

        @GetMapping("/including-after")
        public void includingAfter(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            exports.brief();
            request.getRequestDispatcher("/export").include(request, response);
        }

        @GetMapping("/dispatching")
        public void dispatching(HttpServletRequest request, HttpServletResponse response) {
            exports.brief();
            request.startAsync().dispatch("/export");
        }

        @GetMapping("/ruled-async")
        public void ruledAsync(HttpServletRequest request, HttpServletResponse response) {
            request.startAsync().dispatch("/export");
        }

        @GetMapping("/circle-of-exports")
        public String circleOfExports() {
            return "forward:/first-export";
        }

        @GetMapping("/circle-of-rated")
        public String circleOfRated() {
            return "forward:/first-rated";
        }

        @GetMapping("/mid/{target}")
        public String mid(@PathVariable String target) {
            return "forward:/first-" + target;
        }

        @RateLimited("exports")
        @GetMapping("/first-export")
        public void firstExport(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            comeBackOnce(request, response, "export");
        }

        @RateLimited("rated")
        @GetMapping("/first-rated")
        public void firstRated(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            comeBackOnce(request, response, "rated");
        }

        private static void comeBackOnce(HttpServletRequest request, HttpServletResponse response, String target)
                throws ServletException, IOException {
            if (request.getAttribute("again") == null) {
                request.setAttribute("again", true);
                request.getRequestDispatcher("/mid/" + target).forward(request, response);
            }
        }

        @GetMapping("/refunding")
        public String refunding() {
            exports.attempt(true);
            try {
                exports.attempt(false);
            } catch (IllegalStateException ex) {
                // Refunded.
            }
            return "forward:/attempting";
        }

        @GetMapping("/attempting")
        @ResponseBody
        public String attempting() {
            exports.attempt(true);
            return "done";
        }

        @GetMapping("/starting")
        public void starting(HttpServletRequest request) {
            request.startAsync();
            throw new IllegalArgumentException("expected by the test");
        }

        @GetMapping("/rejected-in-part")
        public String rejectedInPart() {
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(exports::narrowTrial);
            return "forward:/trial";
        }

        @GetMapping("/trial")
        @ResponseBody
        public String trial() {
            exports.trial();
            return "done";
        }

        @RateLimited("exports")
        @GetMapping("/failing")
        public void failing() {
            throw new IllegalArgumentException("expected by the test");
        }
    }

    /** In place of Spring Boot's. */
    @Controller
    static class ErrorPage implements org.springframework.boot.webmvc.error.ErrorController {

        private final Exports exports;

        ErrorPage(Exports exports) {
            this.exports = exports;
        }

        @RequestMapping("/error")
        @ResponseBody
        public String error(HttpServletRequest request) {
            if (!"/starting".equals(request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI))) {
                exports.export();
            }
            return "failed";
        }
    }
}
