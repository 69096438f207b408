package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
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
    record LimitAnnotation(RateLimited annotation, String place, String defaultName, boolean ofType) {

        /** Returns what calls are charged, without its place. */
        static List<Object> limits(List<LimitAnnotation> annotations) {
            return annotations.stream()
                    .<Object>map(limit ->
                            List.of(limit.annotation, limit.annotation.name().isEmpty() ? limit.defaultName : ""))
                    .toList();
        }
    }

    /** Returns whether the class, one of its supertypes or a method of them is annotated. */
    public static boolean areIn(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, RateLimited.class)
                && (MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(RateLimited.class)
                        || Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                                .anyMatch(method -> MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
                                        .isPresent(RateLimited.class)));
    }

    static List<LimitAnnotation> find(Method method, Class<?> targetClass) {
        Stream<Method> declarations = Stream.concat(
                Stream.of(method),
                method.getDeclaringClass().equals(targetClass)
                        ? Stream.empty()
                        : ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                                .flatMap(type -> implemented(type, method, targetClass)));
        List<LimitAnnotation> own = nearest(declarations.flatMap(RateLimitAnnotations::stream), targetClass);
        return own.isEmpty() && isPublicInstanceMethod(method) ? ofType(method, targetClass) : own;
    }

    /** Returns the annotations of a class, its superclasses and interfaces. */
    static List<LimitAnnotation> ofType(Class<?> targetClass) {
        return stream(targetClass).map(RateLimitAnnotations::limitAnnotation).toList();
    }

    static boolean isPublicInstanceMethod(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !ReflectionUtils.isObjectMethod(method);
    }

    /** Leaves out the fallback of the type's other methods. */
    private static List<LimitAnnotation> ofType(Method method, Class<?> targetClass) {
        List<LimitAnnotation> found = nearest(
                stream(targetClass).filter(annotation -> isPartOf(annotation.getSource(), method, targetClass)),
                targetClass);
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
                || implemented(type, method, targetClass).findAny().isPresent();
    }

    /** Returns the methods of an interface or proxy that calls of the class reach the method by. */
    private static Stream<Method> implemented(Class<?> type, Method method, Class<?> targetClass) {
        return Arrays.stream(type.getMethods())
                .filter(declared -> declared.getName().equals(method.getName())
                        && !declared.isBridge()
                        && AopUtils.getMostSpecificMethod(declared, targetClass).equals(method));
    }

    private static Stream<MergedAnnotation<RateLimited>> stream(AnnotatedElement element) {
        return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(RateLimited.class);
    }

    /**
     * Returns the annotations of the declaration that overrides the others.
     *
     * @throws RateLimitConfigurationException if none overrides the others, and they differ
     */
    private static List<LimitAnnotation> nearest(Stream<MergedAnnotation<RateLimited>> found, Class<?> targetClass) {
        List<AnnotatedElement> all = found.map(
                        annotation -> (AnnotatedElement) Objects.requireNonNull(annotation.getSource()))
                .distinct()
                .toList();
        List<List<LimitAnnotation>> nearest = all.stream()
                .filter(element -> all.stream().noneMatch(other -> overrides(other, element)))
                .map(element -> MergedAnnotations.from(element).stream(RateLimited.class)
                        .map(RateLimitAnnotations::limitAnnotation)
                        .toList())
                .toList();
        if (nearest.stream().map(LimitAnnotation::limits).distinct().count() > 1) {
            throw new RateLimitConfigurationException(
                            "@RateLimited must not differ between supertypes (was on "
                                    + nearest.stream()
                                            .map(limits -> limits.get(0).place())
                                            .collect(Collectors.joining(" and "))
                                    + ").",
                            "Annotate the " + (nearest.get(0).get(0).ofType() ? "class" : "method in the class")
                                    + ", which replaces both; or remove one.")
                    .at(targetClass.getName());
        }
        return nearest.isEmpty() ? List.of() : nearest.get(0);
    }

    private static boolean overrides(AnnotatedElement one, AnnotatedElement other) {
        return !typeOf(one).equals(typeOf(other)) && typeOf(other).isAssignableFrom(typeOf(one));
    }

    private static Class<?> typeOf(AnnotatedElement element) {
        return element instanceof Method method ? method.getDeclaringClass() : (Class<?>) element;
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
