package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The permits of one lease. */
class StockTests {

    private static final long SECOND = 1_000_000_000;

    private final Stock stock = stock(LeasingInstances.window("quotes", 100, 10));

    /** Of five permits, of a window that ends in a second. */
    static Stock stock(RateLimit limit) {
        RateLimitDecision decision = RateLimitDecision.ofMicros(limit.capacity(), 50, 0, 0, 1_000_000);
        return new Stock(limit, new Lease(decision, 5, permits -> CompletableFuture.completedFuture(null)), 0);
    }

    @Test
    void whatIsLeftOverIsGivenBackOnce() {
        stock.take(2, 0);
        assertThat(stock.close(SECOND - 1_000).permits()).isEqualTo(3);
        assertThat(stock.close(SECOND - 1_000).permits()).isZero();
    }

    @Test
    void nothingIsLeftOverOnceItIsBackByItself() {
        assertThat(stock.close(SECOND).permits()).isZero();
    }

    @Test
    void refundIsNotHandedOutAnyLonger() {
        Stock.Portion portion = stock.takePortion(3, 0);
        assertThat(portion.refund()).isCompleted();
        assertThat(stock.handedOut()).isZero();
        assertThat(stock.take(6, 0)).isNegative();
        assertThat(stock.take(5, 0)).isNotNegative();
    }
}
