package io.ratelimit.aop;

import java.lang.reflect.AnnotatedElement;
import java.util.stream.Stream;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.PatternMatchUtils;

/** Finds supertypes and annotations by their names, because they may not be on the class path. */
final class TypeHierarchy {

    private TypeHierarchy() {}

    /** Returns those of {@link #all} whose names match one of the patterns. */
    static Stream<Class<?>> find(Class<?> type, String... patterns) {
        return all(type).filter(part -> PatternMatchUtils.simpleMatch(patterns, part.getName()));
    }

    static boolean isAny(Class<?> type, String... patterns) {
        return find(type, patterns).findAny().isPresent();
    }

    /** Returns whether one of the annotations is on a method, a method that it overrides, a type or a supertype. */
    static boolean isAnnotated(AnnotatedElement element, String... names) {
        MergedAnnotations found = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return Stream.of(names).anyMatch(found::isPresent);
    }

    /** Returns a type and those that it extends or implements, also through others, some of them several times. */
    static Stream<Class<?>> all(Class<?> type) {
        Stream<Class<?>> supertypes =
                Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()));
        return Stream.concat(Stream.of(type), supertypes.flatMap(TypeHierarchy::all));
    }
}
