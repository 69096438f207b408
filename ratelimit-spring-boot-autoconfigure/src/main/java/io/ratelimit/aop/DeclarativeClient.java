package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Recognizes interfaces of HTTP clients, which a library implements by a proxy. A controller that implements such an interface is
 * no client. The annotations are known by their names, because they may not be on the class path.
 */
final class DeclarativeClient {

    private static final String HTTP_EXCHANGE = "org.springframework.web.service.annotation.HttpExchange";

    private static final String FEIGN_CLIENT = "org.springframework.cloud.openfeign.FeignClient";

    /** Of Feign without Spring Cloud. */
    private static final String REQUEST_LINE = "feign.RequestLine";

    private DeclarativeClient() {}

    /** Returns whether the method calls another application. */
    static boolean isMethodOf(Method method, Class<?> targetClass) {
        if (!Proxy.isProxyClass(targetClass)) {
            return false;
        }
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return annotations.isPresent(HTTP_EXCHANGE)
                || annotations.isPresent(REQUEST_LINE)
                || feignClients(targetClass)
                        .anyMatch(client -> RateLimitAnnotations.isDeclaredBy(client.type(), method, targetClass));
    }

    /** Returns whether the class is a client's fallback, which is called after the client has been charged. */
    static boolean isFallback(Class<?> targetClass) {
        return feignClients(targetClass).anyMatch(client -> client.fallback() == targetClass);
    }

    /** Returns whether the method takes the place of one that has been charged, and no annotation of the fallback limits it. */
    static boolean isFallback(Method method, Class<?> targetClass) {
        return feignClients(targetClass)
                        .anyMatch(client -> client.fallback() == targetClass
                                && RateLimitAnnotations.isDeclaredBy(client.type(), method, targetClass))
                && !MergedAnnotations.from(method).isPresent(RateLimited.class)
                && !MergedAnnotations.from(targetClass).isPresent(RateLimited.class);
    }

    private static Stream<FeignClient> feignClients(Class<?> targetClass) {
        return ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                .flatMap(type -> MergedAnnotations.from(type).stream(FEIGN_CLIENT)
                        .map(annotation -> new FeignClient(type, fallback(annotation))));
    }

    private static Class<?> fallback(MergedAnnotation<?> annotation) {
        return annotation.getValue("fallback", Class.class).orElse(void.class);
    }

    private record FeignClient(Class<?> type, Class<?> fallback) {}
}
