package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotationPredicates;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Reads the annotations of a method, or of its type if the method has none, from the nearest declaration with any. */
public final class RateLimitAnnotations {

    private RateLimitAnnotations() {}

    /**
     * An annotation and its place.
     *
     * @param place the class, and the method unless the type is annotated
     * @param defaultName the name of the limit if the annotation has none
     * @param ofType whether the type is annotated
     */
    record LimitAnnotation(RateLimited annotation, String place, String defaultName, boolean ofType) {}

    /** Returns whether the class, one of its supertypes or a method of them is annotated. */
    public static boolean areIn(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, RateLimited.class)
                && (MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(RateLimited.class)
                        || Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                                .anyMatch(method -> MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
                                        .isPresent(RateLimited.class)));
    }

    static List<LimitAnnotation> find(Method method, Class<?> targetClass) {
        List<LimitAnnotation> own =
                nearest(MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).stream(RateLimited.class));
        return own.isEmpty() && isPublicInstanceMethod(method) ? ofType(method, targetClass) : own;
    }

    /** Returns the annotations of a class, its superclasses and interfaces. */
    static List<LimitAnnotation> ofType(Class<?> targetClass) {
        return nearest(MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).stream(RateLimited.class));
    }

    static boolean isPublicInstanceMethod(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !ReflectionUtils.isObjectMethod(method);
    }

    /** Leaves out the fallback of the type's other methods. */
    private static List<LimitAnnotation> ofType(Method method, Class<?> targetClass) {
        List<LimitAnnotation> found = nearest(
                MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).stream(RateLimited.class)
                        .filter(annotation -> isPartOf(annotation.getSource(), method, targetClass)));
        boolean isFallback = found.stream()
                .anyMatch(limit -> FallbackMethod.is(method, limit.annotation().fallbackMethod(), targetClass));
        return isFallback ? List.of() : found;
    }

    /** Returns whether the annotation applies: that of an interface applies only to the methods of the interface. */
    static boolean isPartOf(@Nullable Object type, Method method, Class<?> targetClass) {
        return !(type instanceof Class<?> annotated)
                || !annotated.isInterface()
                || isDeclaredBy(annotated, method, targetClass);
    }

    /** Returns whether the interface or proxy has the method, also with a type parameter where the class has a type. */
    static boolean isDeclaredBy(Class<?> type, Method method, Class<?> targetClass) {
        return ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes())
                || Arrays.stream(type.getMethods())
                        .anyMatch(declared -> AopUtils.getMostSpecificMethod(declared, targetClass)
                                .equals(method));
    }

    private static List<LimitAnnotation> nearest(Stream<MergedAnnotation<RateLimited>> found) {
        return found.filter(MergedAnnotationPredicates.firstRunOf(MergedAnnotation::getAggregateIndex))
                .map(RateLimitAnnotations::limitAnnotation)
                .toList();
    }

    private static LimitAnnotation limitAnnotation(MergedAnnotation<RateLimited> merged) {
        RateLimited annotation = merged.synthesize();
        if (merged.getSource() instanceof Method method) {
            String defaultName =
                    kebab(method.getDeclaringClass()) + "-" + LimitNames.kebabCase(MethodSignatures.name(method));
            return new LimitAnnotation(annotation, MethodSignatures.describe(method), defaultName, false);
        }
        Class<?> type = (Class<?>) Objects.requireNonNull(merged.getSource());
        return new LimitAnnotation(annotation, type.getName(), kebab(type), true);
    }

    private static String kebab(Class<?> type) {
        return LimitNames.kebabCase(ClassUtils.getShortName(type).replaceAll(".*\\.", ""));
    }
}
