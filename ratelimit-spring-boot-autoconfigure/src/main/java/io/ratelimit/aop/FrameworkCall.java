package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** How a framework calls a method: past the bean's proxy, or so that a rejection becomes another answer. Such methods are not limited. */
enum FrameworkCall {
    CREATION("creates a bean, once", "Annotate the method of the bean's class; write a class for a lambda.") {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return AnnotatedElementUtils.isAnnotated(method, "org.springframework.context.annotation.Bean")
                    || implementsOneOf(method, targetClass, "org.springframework.beans.factory.FactoryBean");
        }
    },

    LIFE_CYCLE(
            "is called by Spring when there is no proxy, as the bean begins or ends",
            "Annotate a method that other beans call.") {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return AnnotatedElementUtils.isAnnotated(method, "jakarta.annotation.PostConstruct")
                    || AnnotatedElementUtils.isAnnotated(method, "jakarta.annotation.PreDestroy")
                    || implementsOneOf(
                            method,
                            targetClass,
                            "org.springframework.beans.factory.InitializingBean",
                            "org.springframework.beans.factory.DisposableBean");
        }
    },

    CONTAINER(
            "belongs to a filter or a servlet, for which the web server answers a rejection with 500",
            "Limit the requests by a URL rule (ratelimit.http), or annotate a method that the filter calls on another bean.") {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return interfaces(targetClass)
                    .anyMatch(type -> Set.of("jakarta.servlet.Filter", "jakarta.servlet.Servlet")
                            .contains(type.getName()));
        }
    },

    AUTHENTICATION(
            "is called by Spring Security, which answers a rejection as if the password were wrong",
            "Limit the requests that log in by a URL rule (ratelimit.http).") {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return implementsOneOf(
                    method,
                    targetClass,
                    "org.springframework.security.core.userdetails.UserDetailsService",
                    "org.springframework.security.core.userdetails.ReactiveUserDetailsService",
                    "org.springframework.security.authentication.AuthenticationProvider",
                    "org.springframework.security.authentication.AuthenticationManager",
                    "org.springframework.security.authentication.ReactiveAuthenticationManager",
                    "org.springframework.security.crypto.password.PasswordEncoder");
        }
    },

    CONVERSION(
            "is called by Spring's type conversion, which answers a rejection as if the value were wrong",
            "Annotate the method that takes the value.") {
        @Override
        boolean calls(Method method, Class<?> targetClass) {
            return implementsOneOf(
                    method,
                    targetClass,
                    "org.springframework.core.convert.converter.Converter",
                    "org.springframework.core.convert.converter.GenericConverter",
                    "org.springframework.format.Parser",
                    "org.springframework.format.Printer");
        }
    };

    private final String problem;

    private final String fix;

    FrameworkCall(String problem, String fix) {
        this.problem = problem;
        this.fix = fix;
    }

    /** Returns how the method is called, or {@code null} if callers go through the proxy and take a rejection. */
    static @Nullable FrameworkCall of(Method method, Class<?> targetClass) {
        return Arrays.stream(values())
                .filter(call -> call.calls(method, targetClass))
                .findFirst()
                .orElse(null);
    }

    abstract boolean calls(Method method, Class<?> targetClass);

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

    /** The interfaces are known by their names, because they may not be on the class path. */
    private static boolean implementsOneOf(Method method, Class<?> targetClass, String... names) {
        return interfaces(targetClass)
                .filter(type -> Set.of(names).contains(type.getName()))
                .flatMap(type -> Arrays.stream(type.getMethods()))
                .anyMatch(declared -> declared.getName().equals(method.getName())
                        && declared.getParameterCount() == method.getParameterCount());
    }

    private static Stream<Class<?>> interfaces(Class<?> type) {
        return ClassUtils.getAllInterfacesForClassAsSet(type).stream();
    }
}
