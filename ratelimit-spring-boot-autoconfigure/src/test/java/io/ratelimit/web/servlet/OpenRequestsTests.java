package io.ratelimit.web.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.expression.CallEnd;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RequestRule;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.TestWebSettings;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.util.ContentCachingResponseWrapper;
import org.springframework.web.util.pattern.PathPatternParser;

/** Asynchronous requests in a container that never calls a listener. Each holds a permit, and has a call to settle. */
class OpenRequestsTests {

    private static final RateLimit HELD = TestLimits.concurrency("held", 10);

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final WebSettings settings = TestWebSettings.of(HeaderFormat.IETF);

    private final RateLimitGate gate = new RateLimitGate(
            new InMemoryRateLimitStore(TimeSource.monotonic(), 100),
            (charge, decision, outcome) -> {},
            Waiter.parking());

    private final LimitCatalog catalog =
            new LimitCatalog(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of()), null, () -> false);

    private final RequestRuleMapping rules = new RequestRuleMapping(
            List.of(new RequestRule("ratelimit.http[0]", "/held", Set.of(), "held", null)),
            new LimitOperations(catalog, new DefaultListableBeanFactory()),
            () -> PathPatternParser.defaultInstance,
            List::of,
            Map.of(),
            false);

    private final List<OpenRequests> watched = new ArrayList<>();

    private long nanos;

    private boolean lacksThreads;

    private final OpenRequests requests = new OpenRequests(watched::add, () -> nanos, task -> {
        if (lacksThreads) {
            throw new RejectedExecutionException();
        }
        task.run();
    });

    private final ServletRejectionHandler rejections = new ServletRejectionHandler(
            HandlerExceptionResolverComposite::new, new ServletCors(List::of, List::of), settings);

    private final RateLimitHeadersFilter outermost = new RateLimitHeadersFilter(settings, rejections, requests);

    private final RecyclableRequest request = new RecyclableRequest();

    private final FailingResponse response = new FailingResponse();

    private final AtomicInteger settled = new AtomicInteger();

    @BeforeEach
    void start() {
        catalog.declare(HELD, "the test");
        rules.start();
    }

    enum Recycling {
        DISCARDED {
            @Override
            void recycle(RecyclableRequest request) {
                request.discarded = true;
            }
        },
        CLEARED {
            @Override
            void recycle(RecyclableRequest request) {
                request.clearAttributes();
            }
        },
        REUSED {
            @Override
            void recycle(RecyclableRequest request) {
                request.clearAttributes();
                ServletHeaderRecord.of(request);
            }
        };

        abstract void recycle(RecyclableRequest request);
    }

    @ParameterizedTest
    @EnumSource
    void recycledRequestIsOver(Recycling recycling) throws Exception {
        startAsync(0);
        recycling.recycle(request);
        assertOverAfterTheNextCheck();
    }

    @Test
    void silentRequestIsOpenUntilItsTimeoutHasPassed() throws Exception {
        startAsync(TIMEOUT.toMillis());
        checkTwiceAfter(TIMEOUT.plus(OpenRequests.GRACE).minusNanos(1));
        assertOpen();
        nanos++;
        assertOverAfterTheNextCheck();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void silentRequestWithoutTimeoutIsOpenAsLongAsItsContainerHasIt(long timeout) throws Exception {
        startAsync(timeout);
        checkTwiceAfter(Duration.ofDays(100));
        assertOpen();
        Recycling.DISCARDED.recycle(request);
        assertOverAfterTheNextCheck();
    }

    @Test
    void requestIsOverAfterAWriteThatFailed() throws Exception {
        startAsync(0);
        ServletOutputStream stream = request.responseOfAsync().getOutputStream();
        stream.write(new byte[] {1});
        checkTwiceAfter(Duration.ofMinutes(1));
        assertOpen();
        response.failing = true;
        assertThatIOException().isThrownBy(() -> stream.write(1)).withMessage("client has gone");
        assertOverAfterTheNextCheck();
    }

    @Test
    void requestIsOverAfterAFlushThatFailed() throws Exception {
        startAsync(0);
        response.failing = true;
        assertThatIOException()
                .isThrownBy(() -> request.responseOfAsync().flushBuffer())
                .withMessage("client has gone");
        assertOverAfterTheNextCheck();
    }

    /** It throws nothing, so the handler goes on. */
    @Test
    void requestIsOverAfterAFlushOfTheWriterThatFailed() throws Exception {
        startAsync(0);
        PrintWriter writer = request.responseOfAsync().getWriter();
        writer.print("event");
        writer.flush();
        checkTwiceAfter(Duration.ofMinutes(1));
        assertOpen();
        response.failing = true;
        writer.print("event");
        writer.flush();
        assertOverAfterTheNextCheck();
    }

    @Test
    void requestThatStartsAsynchronousProcessingWithoutAResponseIsOverAfterAWriteThatFailed() throws Exception {
        handle((from, to) -> from.startAsync().setTimeout(0));
        assertOverAfterAWriteThatFails();
    }

    /** Another filter keeps what is written by its response, and that is no longer sent when the thread has returned. */
    @Test
    void asynchronousProcessingWithoutAResponseBypassesOtherFilters() throws Exception {
        handle(
                ContentCachingResponseWrapper::new,
                (from, to) -> from.startAsync().setTimeout(0));
        assertThat(request.getAsyncContext().getRequest()).isSameAs(request);
        assertOverAfterAWriteThatFails();
    }

    private void assertOverAfterAWriteThatFails() throws Exception {
        response.failing = true;
        assertThatIOException()
                .isThrownBy(() -> request.responseOfAsync().getOutputStream().write(1))
                .withMessage("client has gone");
        assertOverAfterTheNextCheck();
    }

    @Test
    void writerFlushesThatOfTheContainerOnceAndHasItsError() throws Exception {
        handle((from, to) -> {
            PrintWriter writer = to.getWriter();
            writer.flush();
            assertThat(response.flushes).isOne();
            response.failing = true;
            writer.print("event");
            writer.close();
            assertThat(writer.checkError()).isTrue();
        });
    }

    /** Jetty's writer formats for the locale of the response. */
    @Test
    void writerFormatsAsThatOfTheContainer() throws Exception {
        handle((from, to) ->
                to.getWriter().printf("%,d", 1_000).printf("%s", "!").flush());
        assertThat(response.formatted).hasToString("%,d%s");
    }

    @Test
    void requestIsOpenWhileItsThreadWorksThoughAWriteHasFailed() throws Exception {
        handle((from, to) -> {
            response.failing = true;
            assertThatIOException().isThrownBy(() -> to.getOutputStream().flush());
            checkTwiceAfter(Duration.ofDays(1));
            assertOpen();
        });
        assertOver();
    }

    @Test
    void dispatchThatWaitsForAThreadIsOpenForALimitedTime() throws Exception {
        startAsync(TIMEOUT.toMillis());
        nanos += TIMEOUT.toNanos();
        request.setAsyncStarted(false);
        checkTwiceAfter(Duration.ZERO);
        checkTwiceAfter(OpenRequests.GRACE.minusNanos(1));
        assertOpen();
        nanos++;
        assertOverAfterTheNextCheck();
    }

    @Test
    void dispatchThatHasAThreadIsOpenUntilThatReturns() throws Exception {
        startAsync(TIMEOUT.toMillis());
        request.setAsyncStarted(false);
        request.setDispatcherType(DispatcherType.ASYNC);
        outermost.doFilter(request, response, (from, to) -> {
            checkTwiceAfter(Duration.ofDays(1));
            assertOpen();
        });
        assertOver();
    }

    @Test
    void dispatchThatStartsAsynchronousProcessingAgainHasAnotherTimeout() throws Exception {
        startAsync(TIMEOUT.toMillis());
        nanos += TIMEOUT.toNanos();
        request.setAsyncStarted(false);
        request.setDispatcherType(DispatcherType.ASYNC);
        outermost.doFilter(
                request, response, (from, to) -> from.startAsync(from, to).setTimeout(TIMEOUT.toMillis()));
        checkTwiceAfter(TIMEOUT);
        assertOpen();
        checkTwiceAfter(OpenRequests.GRACE);
        assertOver();
    }

    @Test
    void containerThatTellsEndsTheRequestAtOnceAndOnce() throws Exception {
        startAsync(TIMEOUT.toMillis());
        List<AsyncListener> listeners = ((MockAsyncContext) request.getAsyncContext()).getListeners();
        for (AsyncListener listener : listeners) {
            listener.onError(null);
        }
        assertOpen();
        for (AsyncListener listener : listeners) {
            listener.onComplete(new AsyncEvent(request.getAsyncContext(), request, new MockHttpServletResponse()));
            assertOver();
        }
        Recycling.DISCARDED.recycle(request);
        checkTwiceAfter(Duration.ofDays(1));
        assertOver();
    }

    @Test
    void stopOfTheApplicationEndsAll() throws Exception {
        startAsync(0);
        outermost.destroy();
        assertOver();
    }

    @Test
    void requestEndsLaterIfNoThreadCanBeStarted() throws Exception {
        startAsync(0);
        Recycling.DISCARDED.recycle(request);
        lacksThreads = true;
        checkTwiceAfter(Duration.ZERO);
        assertOpen();
        lacksThreads = false;
        checkTwiceAfter(Duration.ZERO);
        assertOver();
    }

    @Test
    void checkSurvivesARequestThatFails() throws Exception {
        startAsync(TIMEOUT.toMillis());
        request.failing = true;
        checkTwiceAfter(Duration.ofSeconds(1));
        assertOpen();
        checkTwiceAfter(TIMEOUT.plus(OpenRequests.GRACE));
        assertOver();
    }

    @Test
    void endSurvivesAnActionThatFails() throws Exception {
        outermost.doFilter(request, response, (from, to) -> {
            RequestCompletion.follow(request, () -> {
                throw new IllegalStateException("expected by the test");
            });
            RequestCompletion.follow(request, settled::incrementAndGet);
        });
        assertThat(settled).hasValue(1);
    }

    /** As a future that becomes an emitter while the request waits for it. */
    @Test
    void requestIsFollowedFromAnotherThreadWhileItWaits() throws Exception {
        request.setRequestURI("/free");
        outermost.doFilter(
                request, response, (from, to) -> from.startAsync(from, to).setTimeout(0));
        assertThat(watched).isEmpty();
        RequestCompletion.follow(request, settled::incrementAndGet);
        checkTwiceAfter(Duration.ofDays(1));
        assertThat(settled).hasValue(0);
        Recycling.DISCARDED.recycle(request);
        checkTwiceAfter(Duration.ZERO);
        assertThat(settled).hasValue(1);
    }

    @Test
    void errorPageIsFollowedWhenTheRequestItselfIsOver() throws Exception {
        handle((from, to) -> {});
        assertOver();
        request.setDispatcherType(DispatcherType.ERROR);
        AtomicInteger ofErrorPage = new AtomicInteger();
        outermost.doFilter(request, response, (from, to) -> {
            RequestCompletion.follow(request, ofErrorPage::incrementAndGet);
            assertThat(ofErrorPage).hasValue(0);
        });
        assertThat(ofErrorPage).hasValue(1);
    }

    @Test
    void requestThatHoldsNothingCostsNothing() throws Exception {
        request.setRequestURI("/free");
        outermost.doFilter(request, response, (from, to) -> {
            from.startAsync(from, to);
            assertThat(to.getOutputStream()).isSameAs(response.getOutputStream());
        });
        assertThat(((MockAsyncContext) request.getAsyncContext()).getListeners())
                .isEmpty();
        assertThat(watched).isEmpty();
    }

    private void startAsync(long timeout) throws ServletException, IOException {
        handle((from, to) -> from.startAsync(from, to).setTimeout(timeout));
        assertThat(watched).containsExactly(requests);
        assertOpen();
    }

    private void handle(FilterChain handler) throws ServletException, IOException {
        handle(UnaryOperator.identity(), handler);
    }

    private void handle(UnaryOperator<HttpServletResponse> otherFilter, FilterChain handler)
            throws ServletException, IOException {
        RequestLimitFilter limit = new RequestLimitFilter(rules, RuleOrder.BEFORE_SECURITY, gate, settings, rejections);
        outermost.doFilter(
                request,
                response,
                (from, to) ->
                        limit.doFilter(from, otherFilter.apply((HttpServletResponse) to), (limitedFrom, limitedTo) -> {
                            assertThat(AsyncResult.follow(
                                            (HttpServletRequest) limitedFrom, new SseEmitter(), new Settling()))
                                    .isTrue();
                            handler.doFilter(limitedFrom, limitedTo);
                        }));
    }

    private void checkTwiceAfter(Duration duration) {
        nanos += duration.toNanos();
        requests.check();
        requests.check();
    }

    /** The container has a second to tell. */
    private void assertOverAfterTheNextCheck() {
        requests.check();
        if (settled.get() == 0) {
            assertOpen();
            requests.check();
        }
        assertOver();
    }

    private void assertOpen() {
        assertThat(gate.heldPermits(HELD)).isOne();
        assertThat(settled).hasValue(0);
    }

    private void assertOver() {
        assertThat(gate.heldPermits(HELD)).isZero();
        assertThat(settled).hasValue(1);
        requests.check();
        requests.check();
        assertThat(settled).hasValue(1);
    }

    private final class Settling implements CallEnd {

        @Override
        public void add(@Nullable Object result) {
            throw new AssertionError();
        }

        @Override
        public void completed() {
            throw new AssertionError();
        }

        @Override
        public void failed(Throwable failure) {
            throw new AssertionError(failure);
        }

        @Override
        public void cancelled() {
            throw new AssertionError();
        }

        @Override
        public void written(Object result, @Nullable Throwable failure) {
            settled.incrementAndGet();
        }
    }

    private static final class RecyclableRequest extends MockHttpServletRequest {

        private boolean discarded;

        private boolean failing;

        RecyclableRequest() {
            super("GET", "/held");
            setAsyncSupported(true);
        }

        HttpServletResponse responseOfAsync() {
            return (HttpServletResponse) getAsyncContext().getResponse();
        }

        @Override
        public @Nullable Object getAttribute(String name) {
            check();
            return super.getAttribute(name);
        }

        @Override
        public boolean isAsyncStarted() {
            check();
            return super.isAsyncStarted();
        }

        private void check() {
            if (discarded) {
                throw new IllegalStateException("recycled");
            }
            if (failing) {
                throw new IndexOutOfBoundsException("expected by the test");
            }
        }
    }

    private static final class FailingResponse extends MockHttpServletResponse {

        private boolean failing;

        private int flushes;

        private final StringBuilder formatted = new StringBuilder();

        private final ServletOutputStream stream = new ServletOutputStream() {

            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void setWriteListener(WriteListener listener) {}

            @Override
            public void write(int value) throws IOException {
                flush();
            }

            @Override
            public void flush() throws IOException {
                flushes++;
                flushBuffer();
            }
        };

        @Override
        public ServletOutputStream getOutputStream() {
            return stream;
        }

        @Override
        public PrintWriter getWriter() {
            return new PrintWriter(stream, false, StandardCharsets.UTF_8) {
                @Override
                public PrintWriter format(String format, Object... arguments) {
                    formatted.append(format);
                    return this;
                }
            };
        }

        @Override
        public void flushBuffer() {
            if (failing) {
                sneakyThrow(new IOException("client has gone"));
            }
        }

        @SuppressWarnings("unchecked")
        private static <E extends Throwable> void sneakyThrow(Throwable failure) throws E {
            throw (E) failure;
        }
    }
}
