package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Recognizes interfaces of clients, which a library implements by a proxy. A controller that implements such an interface is
 * no client. The annotations are known by their names, because they may not be on the class path.
 */
final class DeclarativeClient {

    /** Controllers implement such interfaces, too. */
    static final String HTTP_EXCHANGE = "org.springframework.web.service.annotation.HttpExchange";

    private static final String RSOCKET_EXCHANGE = "org.springframework.messaging.rsocket.service.RSocketExchange";

    private static final String FEIGN_CLIENT = "org.springframework.cloud.openfeign.FeignClient";

    /** Of Feign without Spring Cloud. */
    private static final String REQUEST_LINE = "feign.RequestLine";

    private DeclarativeClient() {}

    /** Returns whether the method calls another application. */
    static boolean isMethodOf(Method method, Class<?> targetClass) {
        return Proxy.isProxyClass(targetClass)
                && (TypeHierarchy.isAnnotated(method, HTTP_EXCHANGE, RSOCKET_EXCHANGE, REQUEST_LINE)
                        || feignClients(targetClass)
                                .anyMatch(client ->
                                        RateLimitAnnotations.isPartOf(client.getSource(), method, targetClass)));
    }

    /** Returns whether the class is a client's fallback, which is called after the client has been charged. */
    static boolean isFallback(Class<?> targetClass) {
        return replacedClients(targetClass).findAny().isPresent();
    }

    /** Returns whether the method takes the place of one that has been charged, and no annotation of the fallback limits it. */
    static boolean isFallback(Method method, Class<?> targetClass) {
        return replacedClients(targetClass)
                        .anyMatch(client -> RateLimitAnnotations.isPartOf(client.getSource(), method, targetClass))
                && !MergedAnnotations.from(method).isPresent(RateLimited.class)
                && !MergedAnnotations.from(targetClass).isPresent(RateLimited.class);
    }

    /** Counts every class as a fallback that a factory of fallbacks may return. */
    private static Stream<MergedAnnotation<Annotation>> replacedClients(Class<?> targetClass) {
        boolean isClient = targetClass.isInterface() || Proxy.isProxyClass(targetClass);
        return feignClients(targetClass)
                .filter(client -> attribute(client, "fallback") == targetClass
                        || (!isClient && attribute(client, "fallbackFactory") != void.class));
    }

    private static Stream<MergedAnnotation<Annotation>> feignClients(Class<?> targetClass) {
        return MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).stream(FEIGN_CLIENT);
    }

    private static Class<?> attribute(MergedAnnotation<?> annotation, String name) {
        return annotation.getValue(name, Class.class).orElse(void.class);
    }
}
