package io.ratelimit.aop;

import java.util.stream.Stream;
import org.springframework.util.PatternMatchUtils;

/** Finds supertypes by their names, because they may not be on the class path. */
final class TypeHierarchy {

    private TypeHierarchy() {}

    /** Returns those of {@link #all} whose names match one of the patterns. */
    static Stream<Class<?>> find(Class<?> type, String... patterns) {
        return all(type).filter(part -> PatternMatchUtils.simpleMatch(patterns, part.getName()));
    }

    static boolean isAny(Class<?> type, String... patterns) {
        return find(type, patterns).findAny().isPresent();
    }

    /** Returns a type and those that it extends or implements, also through others, some of them several times. */
    static Stream<Class<?>> all(Class<?> type) {
        Stream<Class<?>> supertypes =
                Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()));
        return Stream.concat(Stream.of(type), supertypes.flatMap(TypeHierarchy::all));
    }
}
