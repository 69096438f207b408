package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** How a framework calls a method: past the bean's proxy, or so that a rejection becomes another answer. Such methods are not limited. */
enum FrameworkCall {
    CREATION(
            "creates a bean, once",
            "Annotate the method of the bean's class; write a class for a lambda.",
            List.of("org.springframework.context.annotation.Bean"),
            List.of("org.springframework.beans.factory.FactoryBean")),

    LIFE_CYCLE(
            "is called by Spring when there is no proxy, as the bean begins or ends",
            "Annotate a method that other beans call.",
            List.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy"),
            List.of(
                    "org.springframework.beans.factory.InitializingBean",
                    "org.springframework.beans.factory.DisposableBean")),

    CONTAINER(
            "belongs to a filter or a servlet, for which the web server answers a rejection with 500",
            "Limit the requests by a URL rule (ratelimit.http), or annotate a method that the filter calls on another bean.",
            List.of(),
            List.of("jakarta.servlet.Filter", "jakarta.servlet.Servlet")) {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return implementedBy(targetClass).findAny().isPresent();
        }
    },

    AUTHENTICATION(
            "is called by Spring Security, which answers a rejection as if the password were wrong",
            "Limit the requests that log in by a URL rule (ratelimit.http).",
            List.of(),
            List.of(
                    "org.springframework.security.core.userdetails.UserDetailsService",
                    "org.springframework.security.core.userdetails.ReactiveUserDetailsService",
                    "org.springframework.security.authentication.AuthenticationProvider",
                    "org.springframework.security.authentication.AuthenticationManager",
                    "org.springframework.security.authentication.ReactiveAuthenticationManager",
                    "org.springframework.security.crypto.password.PasswordEncoder")),

    CONVERSION(
            "is called by Spring's type conversion, which answers a rejection as if the value were wrong",
            "Annotate the method that takes the value.",
            List.of(),
            List.of(
                    "org.springframework.core.convert.converter.Converter",
                    "org.springframework.core.convert.converter.GenericConverter",
                    "org.springframework.format.Parser",
                    "org.springframework.format.Printer")),

    EXCEPTION_HANDLER(
            "handles exceptions, so that after a rejection Spring answers a failure of the handler instead",
            "Annotate the methods that handle requests.",
            List.of(
                    "org.springframework.web.bind.annotation.ExceptionHandler",
                    "org.springframework.messaging.handler.annotation.MessageExceptionHandler",
                    "org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler"),
            List.of());

    private final String problem;

    private final String fix;

    @SuppressWarnings("ImmutableEnumChecker") // A constant list.
    private final List<String> annotations;

    @SuppressWarnings("ImmutableEnumChecker") // A copy that cannot change.
    private final Set<String> interfaces;

    /** Annotations and interfaces are known by their names, because they may not be on the class path. */
    FrameworkCall(String problem, String fix, List<String> annotations, List<String> interfaces) {
        this.problem = problem;
        this.fix = fix;
        this.annotations = annotations;
        this.interfaces = Set.copyOf(interfaces);
    }

    /** Returns how the method is called, or {@code null} if callers go through the proxy and take a rejection. */
    static @Nullable FrameworkCall of(Method method, Class<?> targetClass) {
        return Arrays.stream(values())
                .filter(call -> call.calls(method, targetClass))
                .findFirst()
                .orElse(null);
    }

    /** Returns whether Spring calls the method besides one that handles the request, which would pay for both. */
    static boolean assistsHandlers(Method method, Class<?> targetClass) {
        return preparesRequests(method) || EXCEPTION_HANDLER.calls(method, targetClass);
    }

    private static boolean preparesRequests(Method method) {
        return isAnnotated(method, List.of("org.springframework.web.bind.annotation.InitBinder"))
                || (isAnnotated(method, List.of("org.springframework.web.bind.annotation.ModelAttribute"))
                        && !isAnnotated(method, List.of("org.springframework.web.bind.annotation.RequestMapping")));
    }

    boolean calls(Method method, Class<?> targetClass) {
        return isAnnotated(method, annotations)
                || implementedBy(targetClass)
                        .flatMap(type -> Arrays.stream(type.getMethods()))
                        .anyMatch(declared -> declared.getName().equals(method.getName())
                                && declared.getParameterCount() == method.getParameterCount());
    }

    /** Returns those of the interfaces that a class implements. */
    Stream<Class<?>> implementedBy(Class<?> targetClass) {
        return ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                .filter(type -> interfaces.contains(type.getName()));
    }

    /** Returns whether a type may be annotated that has such a method among others, which is then left out. */
    boolean isLeftOut() {
        return this == CREATION || this == LIFE_CYCLE;
    }

    /** Completes "a method that". */
    String problem() {
        return problem;
    }

    String fix() {
        return fix;
    }

    private static boolean isAnnotated(Method method, List<String> names) {
        MergedAnnotations found = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return names.stream().anyMatch(found::isPresent);
    }
}
