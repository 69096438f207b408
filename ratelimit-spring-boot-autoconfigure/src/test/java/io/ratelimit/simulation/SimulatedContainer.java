package io.ratelimit.simulation;

import io.ratelimit.expression.CallEnd;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RequestRule;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.TestWebSettings;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.reactive.ExchangeCors;
import io.ratelimit.web.reactive.ExchangeRejectionHandler;
import io.ratelimit.web.reactive.ExchangeRequestCallSource;
import io.ratelimit.web.reactive.RequestLimitWebFilter;
import io.ratelimit.web.servlet.RateLimitHeadersFilter;
import io.ratelimit.web.servlet.RequestLimitFilter;
import io.ratelimit.web.servlet.ServletCors;
import io.ratelimit.web.servlet.ServletRejectionHandler;
import io.ratelimit.web.servlet.ServletRequestCallSource;
import io.ratelimit.web.servlet.SimulatedHeadersFilter;
import jakarta.servlet.DispatcherType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/** The web server of one instance: the starter's own filters, and requests whose dispatches and ends are the simulation's. */
final class SimulatedContainer {

    private final WebSettings settings = TestWebSettings.of(HeaderFormat.IETF);

    private final SimulatedInstance instance;

    private final RateLimitHeadersFilter headers;

    private final RequestLimitFilter limits;

    private final RequestLimitWebFilter reactive;

    private final List<Runnable> everySecond = new ArrayList<>();

    /** What runs in a dispatch. */
    interface Handler {

        void handle() throws Exception;
    }

    /** @param rules paths, and the limits that apply to them */
    SimulatedContainer(SimulatedInstance instance, SimulatedTime time, List<RequestRule> rules) {
        this.instance = instance;
        RequestRuleMapping matched = new RequestRuleMapping(
                rules,
                new LimitOperations(instance.catalog(), new DefaultListableBeanFactory()),
                () -> PathPatternParser.defaultInstance,
                List::of,
                Map.of(),
                false);
        var unused = matched.start();
        ServletRejectionHandler rejections = new ServletRejectionHandler(
                HandlerExceptionResolverComposite::new, new ServletCors(List::of, List::of), settings);
        headers = SimulatedHeadersFilter.create(settings, rejections, time::nanos, everySecond::add);
        limits = new RequestLimitFilter(matched, RuleOrder.BEFORE_SECURITY, instance.gate(), settings, rejections);
        reactive = new RequestLimitWebFilter(
                matched,
                RuleOrder.BEFORE_SECURITY,
                instance.gate(),
                new ExchangeRequestCallSource(settings),
                new ExchangeRejectionHandler(List::of, List::of, new ExchangeCors(List::of, List::of)),
                new StaticApplicationContext());
        repeat(time);
    }

    private void repeat(SimulatedTime time) {
        time.after(Duration.ofSeconds(1), () -> {
            List.copyOf(everySecond).forEach(Runnable::run);
            repeat(time);
        });
    }

    static RequestRule rule(String path, String limit) {
        return new RequestRule("ratelimit.http[0]", path, Set.of(), limit, null);
    }

    /** Serves a dispatch of a request. */
    void dispatch(SimulatedRequest request, DispatcherType type, Handler handler) throws Exception {
        request.setDispatcherType(type);
        headers.doFilter(
                request,
                request.response,
                (first, firstResponse) -> limits.doFilter(first, firstResponse, (next, response) -> {
                    RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request));
                    try {
                        handler.handle();
                    } catch (Exception ex) {
                        throw new jakarta.servlet.ServletException(ex);
                    } finally {
                        RequestContextHolder.resetRequestAttributes();
                    }
                }));
    }

    /**
     * Calls an annotated method in the present dispatch.
     *
     * @return what it was charged; {@code null}: nothing, because the request has paid
     */
    @org.jspecify.annotations.Nullable
    Settlement call(Charge charge) {
        RequestCall caller = new ServletRequestCallSource(settings).current();
        List<Charge> unpaid = caller.unpaid(List.of(charge));
        return unpaid.isEmpty() ? null : instance.gate().enter(new AcquireRequest(unpaid, true, caller));
    }

    /** Follows a result that the present request writes later. */
    boolean follow(Object result, CallEnd end) {
        return new ServletRequestCallSource(settings).current().follow(result, end);
    }

    /** Filters a reactive request; its handler ends when the response does. */
    Mono<Void> filter(String path, Mono<Void> response) {
        return reactive.filter(MockServerWebExchange.from(MockServerHttpRequest.get(path)), exchange -> response);
    }
}
