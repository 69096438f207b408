package io.ratelimit.expression;

import java.beans.FeatureDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;

/**
 * Reads a property of objects of any class. Finds the getter or field with the accessor of SpEL, once for each class.
 */
final class PropertyReader {

    private static final MethodType READING = MethodType.methodType(Object.class, Object.class);

    private static final MethodHandle UNREAD =
            MethodHandles.dropArguments(MethodHandles.constant(Object.class, PropertyPath.UNREAD), 0, Object.class);

    private final ClassValue<MethodHandle> handles;

    PropertyReader(String property) {
        this.handles = new ClassValue<>() {
            @Override
            protected MethodHandle computeValue(Class<?> type) {
                return isSpecial(type) ? UNREAD : handle(find(property, type));
            }
        };
    }

    /** Returns the value, or {@link PropertyPath#UNREAD}, also if reading it fails, so that SpEL reports the failure. */
    @Nullable
    Object read(Object target) {
        try {
            return (Object) handles.get(target.getClass()).invokeExact(target);
        } catch (Throwable ex) {
            return PropertyPath.UNREAD;
        }
    }

    /** Returns the getter or field of a property; {@code null}: values of that type do not declare it. */
    static @Nullable Member find(String property, Class<?> type) {
        return new Members().find(property, type);
    }

    /** Returns whether no value of that type has such a property. */
    static boolean isMissing(String property, Class<?> type) {
        return isKnown(type) && find(property, type) == null;
    }

    /** Returns whether values are of that very type, and have nothing that SpEL adds. */
    static boolean isKnown(Class<?> type) {
        return Modifier.isFinal(type.getModifiers()) && !type.isArray() && type != Class.class;
    }

    /** Returns the properties of a type, for messages. */
    static List<String> names(Class<?> type) {
        Stream<String> getters =
                Arrays.stream(BeanUtils.getPropertyDescriptors(type)).map(FeatureDescriptor::getName);
        Stream<String> components =
                type.isRecord() ? Arrays.stream(type.getRecordComponents()).map(RecordComponent::getName) : Stream.of();
        return Stream.concat(components, getters)
                .filter(name -> !name.equals("class"))
                .distinct()
                .toList();
    }

    /** Returns whether SpEL treats properties of the type specially. */
    private static boolean isSpecial(Class<?> type) {
        return type.isArray() || type == Class.class || type == Optional.class;
    }

    private static MethodHandle handle(@Nullable Member member) {
        if (member == null
                || Modifier.isStatic(member.getModifiers())
                || !((AccessibleObject) member).trySetAccessible()) {
            return UNREAD;
        }
        try {
            MethodHandle handle = member instanceof Method getter
                    ? MethodHandles.lookup().unreflect(getter)
                    : MethodHandles.lookup().unreflectGetter((Field) member);
            return handle.asType(READING);
        } catch (IllegalAccessException ex) {
            return UNREAD;
        }
    }

    /** Exposes the lookup of SpEL's accessor, which caches classes: one that is kept would keep those of a closed application. */
    private static final class Members extends ReflectivePropertyAccessor {

        @Nullable
        Member find(String property, Class<?> type) {
            Method getter = findGetterForProperty(property, type, false);
            return getter != null ? getter : findField(property, type, false);
        }
    }
}
