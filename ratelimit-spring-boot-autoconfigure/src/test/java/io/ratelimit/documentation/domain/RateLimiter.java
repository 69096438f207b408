package io.ratelimit.documentation.domain;

import java.util.Map;
import reactor.core.publisher.Mono;

/** Stands for Spring Cloud Gateway's interface of this name. The benchmarks have the real one, and compile against it. */
public interface RateLimiter<C> {

    Mono<Response> isAllowed(String routeId, String key);

    Map<String, C> getConfig();

    Class<C> getConfigClass();

    C newConfig();

    record Response(boolean allowed, Map<String, String> headers) {}
}
