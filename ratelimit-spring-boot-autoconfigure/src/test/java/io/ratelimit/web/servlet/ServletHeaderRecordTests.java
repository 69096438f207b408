package io.ratelimit.web.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.TestWebSettings;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;

/** What writes to a response, and what must not. */
class ServletHeaderRecordTests {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 20, "10/s");

    private static final RateLimit EXPORTS = TestLimits.tokenBucket("exports", 20, "10/s");

    private final WebSettings settings = TestWebSettings.of(HeaderFormat.IETF);

    private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/quotes");

    private final MockHttpServletResponse response = new MockHttpServletResponse();

    private final RequestCall caller = new ServletRequestCall(request, settings, ChargedBuckets.Payer.METHOD);

    @Test
    void threadThatHandlesTheRequestWritesAtOnce() throws ServletException, IOException {
        filter((from, to) -> {
            say(12);
            assertThat(fields()).isEqualTo("\"quotes\";r=12;t=1");
            say(11);
            assertThat(fields()).isEqualTo("\"quotes\";r=11;t=1");
        });
    }

    @Test
    void anotherThreadOnlyRecordsAndTheEndWrites() throws ServletException, IOException {
        filter((from, to) -> {
            elsewhere(() -> say(12));
            assertThat(fields()).isNull();
        });
        assertThat(fields()).isEqualTo("\"quotes\";r=12;t=1");
    }

    @Test
    void noHeaderIsWrittenWhenTheRequestHasEnded() throws ServletException, IOException {
        filter((from, to) -> {});
        say(12);
        elsewhere(() -> say(11));
        assertThat(fields()).isNull();
    }

    @Test
    void noHeaderIsWrittenWhenTheRequestHasFailed() {
        try {
            filter((from, to) -> {
                throw new ServletException();
            });
        } catch (ServletException | IOException expected) {
            say(12);
        }
        assertThat(fields()).isNull();
    }

    @Test
    void committedResponseStaysAsItIs() throws ServletException, IOException {
        filter((from, to) -> {
            to.flushBuffer();
            say(12);
        });
        assertThat(fields()).isNull();
    }

    @Test
    void requestThatIsHandledElsewhereIsWrittenWhenItComesBack() throws ServletException, IOException {
        request.setAsyncSupported(true);
        filter((from, to) -> {
            from.startAsync();
            say(12);
        });
        assertThat(fields()).isNull();
        request.setAsyncStarted(false);
        filter((from, to) -> assertThat(fields()).isEqualTo("\"quotes\";r=12;t=1"));
    }

    @Test
    void requestThatItsContainerHasFinishedWithIsNone() {
        MockHttpServletRequest recycled = new MockHttpServletRequest() {
            @Override
            public Object getAttribute(String name) {
                throw new IllegalStateException("recycled");
            }
        };
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(recycled));
        try {
            assertThat(new ServletRequestCallSource(settings).current()).isNull();
        } finally {
            RequestContextHolder.resetRequestAttributes();
        }
    }

    @Test
    void laterDispatchPaysWhatNoEarlierOneHasPaid() {
        List<Charge> charges = charges("alice");
        caller.onDecisions(charges, List.of(allowed(12), allowed(3)));
        assertThat(caller.unpaid(charges)).isEqualTo(charges);
        RequestCall forwarded = dispatched();
        assertThat(forwarded.unpaid(charges)).isEmpty();
        assertThat(forwarded.unpaid(charges("bob"))).isEqualTo(charges("bob"));
        forwarded.onDecisions(charges("bob"), List.of(allowed(12), allowed(3)));
        assertThat(forwarded.unpaid(charges("bob"))).isEqualTo(charges("bob"));
        assertThat(dispatched().unpaid(charges("bob"))).isEmpty();
    }

    @Test
    void whatIsRefundedIsNotPaid() {
        List<Charge> charges = charges("alice");
        caller.onDecisions(charges, List.of(allowed(12), allowed(3)));
        caller.onRefund(charges.subList(0, 1));
        assertThat(dispatched().unpaid(charges)).isEqualTo(charges.subList(0, 1));
    }

    /** It pays for no later dispatch. */
    @Test
    void refundOfACallThatEndsAnyTimeLeavesWhatAnotherHasPaid() {
        List<Charge> charges = charges("alice");
        caller.onDecisions(charges, List.of(allowed(12), allowed(3)));
        RequestCall later = caller.endingAnyTime();
        later.onDecisions(charges, List.of(allowed(11), allowed(2)));
        later.onRefund(charges);
        assertThat(dispatched().unpaid(charges)).isEmpty();
    }

    /** Such as a URL rule and a method. */
    @Test
    void laterDispatchPaysForPermitsThatNoCallOfTheRequestHolds() {
        List<Charge> charges = List.of(new Charge(TestLimits.concurrency("streams", 20), "alice", 1));
        RequestCall second = new ServletRequestCall(request, settings, ChargedBuckets.Payer.METHOD);
        caller.onDecisions(charges, List.of(allowed(12)));
        second.onDecisions(charges, List.of(allowed(11)));
        RequestCall forwarded = dispatched();
        assertThat(forwarded.unpaid(charges)).isEmpty();
        second.onRelease();
        second.onRelease();
        assertThat(forwarded.unpaid(charges)).isEmpty();
        caller.onRelease();
        assertThat(forwarded.unpaid(charges)).isEqualTo(charges);
        forwarded.onDecisions(charges, List.of(allowed(12)));
        caller.onRelease();
        assertThat(dispatched().unpaid(charges)).isEmpty();
    }

    @Test
    void rejectedCallHasPaidNothing() {
        List<Charge> charges = charges("alice");
        caller.onDecisions(charges, List.of(allowed(12), rejected()));
        assertThat(dispatched().unpaid(charges)).isEqualTo(charges);
    }

    @Test
    void limitInDryRunThatWouldRejectHasNotBeenPaid() {
        List<Charge> charges =
                List.of(new Charge(QUOTES, "alice", 1), new Charge(TestLimits.dryRun(EXPORTS), "alice", 1));
        caller.onDecisions(charges, List.of(allowed(12), rejected()));
        assertThat(dispatched().unpaid(charges)).isEqualTo(charges.subList(1, 2));
    }

    private void filter(FilterChain chain) throws ServletException, IOException {
        new RateLimitHeadersFilter(
                        settings,
                        new ServletRejectionHandler(
                                HandlerExceptionResolverComposite::new, new ServletCors(List::of, List::of), settings))
                .doFilter(request, response, chain);
    }

    /** Returns a call of a later pass. That of {@link #caller} has begun without the filter. */
    private RequestCall dispatched() {
        ServletHeaderRecord record = ServletHeaderRecord.of(request);
        record.enterPass();
        return new ServletRequestCall(request, settings, ChargedBuckets.Payer.METHOD);
    }

    private void say(long remaining) {
        caller.onDecisions(List.of(new Charge(QUOTES, "alice", 1)), List.of(allowed(remaining)));
    }

    private String fields() {
        return response.getHeader("RateLimit");
    }

    private static List<Charge> charges(String key) {
        return List.of(new Charge(QUOTES, key, 1), new Charge(EXPORTS, key, 1));
    }

    private static RateLimitDecision allowed(long remaining) {
        return RateLimitDecision.ofMicros(20, remaining, 0, 0, 800_000);
    }

    private static RateLimitDecision rejected() {
        return RateLimitDecision.ofMicros(20, 0, 0, 1, 2_000_000);
    }

    private static void elsewhere(Runnable task) {
        Thread thread = new Thread(task);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }
}
