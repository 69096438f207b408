package io.ratelimit.jaxrs;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.HeaderRecord;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import java.security.Principal;
import java.util.List;
import org.glassfish.jersey.process.internal.RequestContext;
import org.glassfish.jersey.process.internal.RequestScope;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/**
 * Finds the request that Jersey handles on the current thread, and writes what limits have decided during it into its response.
 * Beside Spring MVC, whose filter does both, it only carries the request to other threads.
 */
public final class ResourceCallSource implements RequestCall.Source, ContainerResponseFilter {

    private static final String RECORD = ResourceCallSource.class.getName();

    private final WebSettings settings;

    /** That of the current thread; {@code null} before Jersey has started. */
    @Context
    private @Nullable HttpServletRequest request;

    @Context
    private @Nullable RequestScope scope;

    public ResourceCallSource(WebSettings settings) {
        this.settings = settings;
    }

    @Override
    public @Nullable RequestCall current() {
        HttpServletRequest handled = request;
        if (handled == null) {
            return null;
        }
        try {
            HeaderRecord record =
                    handled.getAttribute(RECORD) instanceof HeaderRecord known ? known : new HeaderRecord();
            handled.setAttribute(RECORD, record);
            return new ResourceCall(handled, settings, record);
        } catch (IllegalStateException outside) {
            return null;
        }
    }

    /** Jersey, too, finds the request on the other thread, such as for what it has injected. */
    @Override
    public Runnable carriedBy(Runnable task) {
        RequestScope known = scope;
        if (known == null) {
            return task;
        }
        try {
            RequestContext handled = known.current();
            return () -> known.runInScope(handled, task);
        } catch (IllegalStateException outside) {
            return task;
        }
    }

    @Override
    public void filter(ContainerRequestContext handled, ContainerResponseContext response) {
        if (handled.getProperty(RECORD) instanceof HeaderRecord record) {
            boolean rejection = response.getStatus() == HttpStatus.TOO_MANY_REQUESTS.value();
            record.write(
                    settings.headers(),
                    rejection && !response.getHeaders().containsKey(HttpHeaders.RETRY_AFTER),
                    response.getHeaders()::putSingle);
        }
    }

    private record ResourceCall(HttpServletRequest request, WebSettings settings, HeaderRecord record)
            implements RequestCall {

        @Override
        public String clientIp() {
            return settings.clientAddress(request.getRemoteAddr());
        }

        @Override
        public @Nullable Principal principal() {
            return request.getUserPrincipal();
        }

        @Override
        public @Nullable String header(String name) {
            return request.getHeader(name);
        }

        @Override
        public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
            record.add(charges, decisions);
        }
    }
}
