package io.ratelimit.aop;

import io.ratelimit.LimitNames;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.expression.MethodSignatures;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Reads annotations, and nobody else does: the method's own, or else its type's, from the nearest place that has any. */
public final class RateLimitAnnotations {

    private RateLimitAnnotations() {}

    /**
     * One annotation where it stands.
     *
     * @param place the class, and the method unless the type is annotated
     * @param defaultName the limit's name unless the annotation gives one
     * @param ofType whether it stands on the type
     */
    record Found(RateLimited annotation, String place, String defaultName, boolean ofType) {}

    static List<Found> find(Method method, Class<?> targetClass) {
        List<Found> own = nearest(MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY));
        return own.isEmpty() && isCoveredByType(method) ? ofType(method, targetClass) : own;
    }

    private static boolean isCoveredByType(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !ReflectionUtils.isObjectMethod(method);
    }

    private static List<Found> ofType(Method method, Class<?> targetClass) {
        return nearest(MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).stream(RateLimited.class)
                .filter(annotation -> isPartOf(annotation.getSource(), method, targetClass))
                .toList());
    }

    /** An annotated interface speaks of its own methods, not of whatever else a class that implements it has. */
    private static boolean isPartOf(@Nullable Object type, Method method, Class<?> targetClass) {
        return !(type instanceof Class<?> annotated)
                || !annotated.isInterface()
                || ClassUtils.hasMethod(annotated, method.getName(), method.getParameterTypes())
                || Arrays.stream(annotated.getMethods())
                        .anyMatch(declared -> AopUtils.getMostSpecificMethod(declared, targetClass)
                                .equals(method));
    }

    private static List<Found> nearest(MergedAnnotations annotations) {
        return nearest(annotations.stream(RateLimited.class).toList());
    }

    private static List<Found> nearest(List<MergedAnnotation<RateLimited>> annotations) {
        int nearest = annotations.stream()
                .mapToInt(MergedAnnotation::getAggregateIndex)
                .min()
                .orElse(0);
        return annotations.stream()
                .filter(annotation -> annotation.getAggregateIndex() == nearest)
                .map(RateLimitAnnotations::found)
                .toList();
    }

    private static Found found(MergedAnnotation<RateLimited> merged) {
        RateLimited annotation = merged.synthesize();
        if (merged.getSource() instanceof Method method) {
            String defaultName =
                    kebab(method.getDeclaringClass()) + "-" + LimitNames.kebabCase(MethodSignatures.name(method));
            return new Found(annotation, MethodSignatures.describe(method), defaultName, false);
        }
        Class<?> type = (Class<?>) merged.getSource();
        if (type == null) {
            throw new IllegalStateException("An annotation without a source: " + merged);
        }
        return new Found(annotation, type.getName(), kebab(type), true);
    }

    private static String kebab(Class<?> type) {
        return LimitNames.kebabCase(ClassUtils.getShortName(type).replaceAll(".*\\.", ""));
    }
}
