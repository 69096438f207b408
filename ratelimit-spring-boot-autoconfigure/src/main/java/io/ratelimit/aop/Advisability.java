package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.aop.RateLimitAnnotations.LimitAnnotation;
import io.ratelimit.expression.MethodSignatures;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Validates that a proxy can intercept the calls of a limited method. */
final class Advisability {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String PAST_PROXY = "called by gRPC past the proxy, because its class overrides bindService";

    private Advisability() {}

    /**
     * Validates an annotated method.
     *
     * @return false if the method stays unlimited, because the annotation is on a type that does not declare the method, or has it for
     *     other methods
     * @throws RateLimitConfigurationException if the method cannot be intercepted
     */
    static boolean check(Method method, Class<?> targetClass, LimitAnnotation annotation) {
        if (annotation.ofType() && FrameworkCall.assistsHandlers(method, targetClass)) {
            return false;
        }
        FrameworkCall framework = FrameworkCall.of(method, targetClass);
        if (framework != null) {
            if (annotation.ofType() && framework.isLeftOut()) {
                return false;
            }
            throw misplaced("@RateLimited", method, framework);
        }
        String obstacle = obstacle(method, targetClass);
        if (obstacle == null) {
            return true;
        }
        if (annotation.ofType() && !method.getDeclaringClass().getName().equals(annotation.place())) {
            logger.log(
                    Level.WARNING,
                    MethodSignatures.describe(method) + " is not covered by the @RateLimited of " + annotation.place()
                            + ", because it is " + obstacle);
            return false;
        }
        throw unadvisable(
                "@RateLimited",
                method,
                obstacle,
                "Make it public or protected, neither static nor final, and call it from another bean.");
    }

    /**
     * Validates a method that a pointcut matches. What Spring calls as a bean begins or ends may be matched, too.
     *
     * @throws RateLimitConfigurationException if the method cannot be intercepted
     */
    static void check(Method method, Class<?> targetClass, LimitPointcut pointcut) {
        FrameworkCall framework = FrameworkCall.of(method, targetClass);
        if (framework != null && !framework.isLeftOut() && framework != FrameworkCall.ANSWER) {
            throw misplaced(pointcut.property(), method, framework);
        }
        String obstacle = obstacle(method, targetClass);
        if (obstacle != null) {
            throw unadvisable(
                    pointcut.property(), method, obstacle, "Make it non-final, or leave it out of the pointcut.");
        }
    }

    /**
     * Validates a class without a method that an annotation limits.
     *
     * @throws RateLimitConfigurationException if the class is annotated and not abstract
     */
    static void checkCovers(Class<?> targetClass) {
        List<LimitAnnotation> annotations = RateLimitAnnotations.ofType(targetClass);
        if (!annotations.isEmpty() && !Modifier.isAbstract(targetClass.getModifiers())) {
            boolean createsBean =
                    FrameworkCall.CREATION.listedTypes(targetClass).findAny().isPresent();
            throw new RateLimitConfigurationException(
                            "@RateLimited on a type must cover a public method that callers reach through a proxy (was on "
                                    + annotations.get(0).place() + ", and covers no method of "
                                    + targetClass.getName() + ").",
                            createsBean
                                    ? FrameworkCall.CREATION.fix()
                                    : "Annotate the methods themselves, make them public, or remove the annotation.")
                    .at(annotations.get(0).place());
        }
    }

    static RateLimitConfigurationException misplaced(String limitedBy, Method method, FrameworkCall framework) {
        return mistake(
                limitedBy
                        + " must apply to methods whose callers go through a proxy and see a rejection (was on a method that "
                        + framework.problem() + ").",
                method,
                framework.fix());
    }

    private static RateLimitConfigurationException unadvisable(
            String limitedBy, Method method, String obstacle, String fix) {
        return mistake(
                limitedBy + " must apply to methods that a proxy can intercept (was " + obstacle + ").",
                method,
                obstacle.equals(PAST_PROXY)
                        ? "Extend the generated …ImplBase and leave bindService to it, or limit a method of another bean."
                        : fix + MethodSignatures.howToOpen(method.getDeclaringClass()));
    }

    private static RateLimitConfigurationException mistake(String rule, Method method, String fix) {
        return new RateLimitConfigurationException(rule, fix).at(MethodSignatures.describe(method));
    }

    private static @Nullable String obstacle(Method method, Class<?> targetClass) {
        List<String> modifiers =
                List.of(Modifier.toString(method.getModifiers()).split(" "));
        for (String obstacle : List.of("private", "static", "final")) {
            if (modifiers.contains(obstacle)) {
                return obstacle;
            }
        }
        if (isBoundPastProxy(method, targetClass)) {
            return PAST_PROXY;
        }
        boolean packagePrivate = !modifiers.contains("public") && !modifiers.contains("protected");
        return packagePrivate && !method.getDeclaringClass().getPackage().equals(targetClass.getPackage())
                ? "package-private in another package than " + targetClass.getName()
                : null;
    }

    /** gRPC calls what {@code bindService} has bound: the methods of the proxy, if it inherits a final one, or those of its target. Known by names. */
    private static boolean isBoundPastProxy(Method method, Class<?> targetClass) {
        Method binding = ClassUtils.getMethodIfAvailable(targetClass, "bindService");
        return binding != null
                && (binding.getModifiers() & (Modifier.FINAL | Modifier.ABSTRACT)) == 0
                && Stream.of(method.getParameterTypes())
                        .anyMatch(type -> type.getName().equals("io.grpc.stub.StreamObserver"));
    }
}
