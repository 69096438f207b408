package io.ratelimit.web.servlet;

import io.ratelimit.web.WebSettings;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The filter that knows when requests begin and end, whose clock is the simulation's. */
public final class SimulatedHeadersFilter {

    private SimulatedHeadersFilter() {}

    /**
     * Creates the filter of an application.
     *
     * @param everySecond runs a task once a second
     */
    public static RateLimitHeadersFilter create(
            WebSettings settings,
            ServletRejectionHandler rejections,
            LongSupplier nanos,
            Consumer<Runnable> everySecond) {
        return new RateLimitHeadersFilter(
                settings,
                rejections,
                new OpenRequests(requests -> everySecond.accept(requests::check), nanos, Runnable::run));
    }
}
