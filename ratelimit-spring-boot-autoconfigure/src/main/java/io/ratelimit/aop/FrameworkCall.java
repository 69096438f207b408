package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.EventListener;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How a framework calls a method: past the bean's proxy, or so that a rejection becomes another answer. Such methods are not limited. */
enum FrameworkCall {
    CREATION(
            "creates a bean, once",
            "Annotate the method of the bean's class; write a class for a lambda.",
            "org.springframework.context.annotation.Bean",
            "org.springframework.beans.factory.FactoryBean"),

    PAST_PROXY(
            "is called when there is no proxy, as the bean begins or ends, or by the bean itself",
            "Annotate a method that other beans call.",
            "jakarta.annotation.PostConstruct",
            "jakarta.annotation.PreDestroy",
            "jakarta.annotation.Resource",
            "jakarta.inject.Inject",
            "org.springframework.beans.factory.annotation.Autowired",
            "org.springframework.beans.factory.InitializingBean",
            "org.springframework.beans.factory.DisposableBean",
            "org.springframework.beans.factory.config.BeanFactoryPostProcessor",
            "org.springframework.*Aware",
            "org.springframework.boot.*HealthIndicator"),

    CONTEXT(
            "is called by Spring as the application or a batch step begins or ends, or to publish an event, and must not fail",
            "Annotate a method that other beans call.",
            "io.micrometer.core.instrument.binder.MeterBinder",
            "org.springframework.batch.*ItemStream",
            "org.springframework.beans.factory.SmartInitializingSingleton",
            "org.springframework.context.Lifecycle",
            "org.springframework.context.Phased",
            "org.springframework.context.SmartLifecycle",
            "org.springframework.context.event.GenericApplicationListener",
            "org.springframework.context.event.SmartApplicationListener",
            "org.springframework.core.Ordered",
            "org.springframework.scheduling.annotation.SchedulingConfigurer"),

    CONTAINER(
            "belongs to a filter, a servlet or a listener, for which the web server answers a rejection with 500 or an error",
            "Limit the requests by a URL rule (ratelimit.http), or annotate a method that the filter calls on another bean.",
            "jakarta.servlet.Filter",
            "jakarta.servlet.Servlet",
            "jakarta.servlet.*Listener") {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return super.calls(method, targetClass)
                    || listedTypes(targetClass).anyMatch(type -> !EventListener.class.isAssignableFrom(type));
        }
    },

    AUTHENTICATION(
            "is called by Spring Security, which answers a rejection as if the password were wrong",
            "Limit the requests that log in by a URL rule (ratelimit.http).",
            "org.springframework.security.core.userdetails.UserDetailsService",
            "org.springframework.security.core.userdetails.ReactiveUserDetailsService",
            "org.springframework.security.authentication.AuthenticationProvider",
            "org.springframework.security.authentication.dao.AbstractUserDetailsAuthenticationProvider",
            "org.springframework.security.authentication.AuthenticationManager",
            "org.springframework.security.authentication.ReactiveAuthenticationManager",
            "org.springframework.security.crypto.password.PasswordEncoder"),

    CONVERSION(
            "is called by Spring's type conversion, which answers a rejection as if the value were wrong",
            "Annotate the method that takes the value.",
            "org.springframework.core.convert.converter.Converter",
            "org.springframework.core.convert.converter.GenericConverter",
            "org.springframework.format.Parser",
            "org.springframework.format.Printer"),

    ANSWER(
            "is called to answer a rejection, too, so that Spring answers a failure of the handler instead",
            "Annotate the methods that handle requests.",
            "org.springframework.web.bind.annotation.ExceptionHandler",
            "org.springframework.messaging.handler.annotation.MessageExceptionHandler",
            "org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice");

    private final String problem;

    private final String fix;

    @SuppressWarnings("ImmutableEnumChecker") // An array that does not change.
    private final String[] names;

    /** @param names those of annotations and of supertypes, because they may not be on the class path; patterns of supertypes */
    FrameworkCall(String problem, String fix, String... names) {
        this.problem = problem;
        this.fix = fix;
        this.names = names;
    }

    /** Returns how the method is called, or {@code null} if callers go through the proxy and take a rejection. */
    static @Nullable FrameworkCall of(Method method, Class<?> targetClass) {
        return Arrays.stream(values())
                .filter(call -> call.calls(method, targetClass))
                .findFirst()
                .orElse(null);
    }

    /** Returns whether Spring calls the method besides those that handle requests or do the bean's work, which would pay for both. */
    static boolean assistsHandlers(Method method, Class<?> targetClass) {
        return preparesRequests(method) || ANSWER.calls(method, targetClass) || CONTEXT.calls(method, targetClass);
    }

    private static boolean preparesRequests(Method method) {
        return TypeHierarchy.isAnnotated(method, "org.springframework.web.bind.annotation.InitBinder")
                || (TypeHierarchy.isAnnotated(method, "org.springframework.web.bind.annotation.ModelAttribute")
                        && !TypeHierarchy.isAnnotated(
                                method, "org.springframework.web.bind.annotation.RequestMapping"));
    }

    boolean calls(Method method, Class<?> targetClass) {
        return TypeHierarchy.isAnnotated(method, names)
                || listedTypes(targetClass)
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                        .anyMatch(declared -> declared.getName().equals(method.getName()) && takes(declared, method));
    }

    /** Returns whether a method takes the parameters of one that it may override; an overload takes others. */
    private static boolean takes(Method declared, Method method) {
        Class<?>[] wanted = declared.getParameterTypes();
        Class<?>[] given = method.getParameterTypes();
        return wanted.length == given.length
                && IntStream.range(0, wanted.length).allMatch(i -> wanted[i].isAssignableFrom(given[i]));
    }

    /** Returns those of the types that a class extends or implements. */
    Stream<Class<?>> listedTypes(Class<?> targetClass) {
        return TypeHierarchy.find(targetClass, names);
    }

    /** Returns whether a type may be annotated that has such a method among others, which is then left out. */
    boolean isLeftOut() {
        return this == CREATION || this == PAST_PROXY || this == CONTEXT;
    }

    /** Completes "a method that". */
    String problem() {
        return problem;
    }

    String fix() {
        return fix;
    }
}
