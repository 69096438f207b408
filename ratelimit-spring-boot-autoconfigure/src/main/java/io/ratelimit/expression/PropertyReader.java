package io.ratelimit.expression;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;

/**
 * Reads a property, of an object of any class by the getter or field that SpEL would take there. It is SpEL's own accessor
 * that is asked for it, once for each class.
 */
final class PropertyReader {

    private static final MethodType READING = MethodType.methodType(Object.class, Object.class);

    private static final MethodHandle LEFT_TO_SPEL =
            MethodHandles.dropArguments(MethodHandles.constant(Object.class, ArgumentPath.UNREAD), 0, Object.class);

    private static final Members MEMBERS = new Members();

    private final ClassValue<MethodHandle> handles;

    PropertyReader(String property) {
        this.handles = new ClassValue<>() {
            @Override
            protected MethodHandle computeValue(Class<?> type) {
                return isPeculiar(type) ? LEFT_TO_SPEL : handle(MEMBERS.find(property, type));
            }
        };
    }

    /** The value, or {@link ArgumentPath#UNREAD}, also where reading it fails: SpEL says how. */
    @Nullable
    Object read(Object target) {
        try {
            return (Object) handles.get(target.getClass()).invokeExact(target);
        } catch (Throwable ex) {
            return ArgumentPath.UNREAD;
        }
    }

    /** Of these SpEL reads what is not theirs. */
    private static boolean isPeculiar(Class<?> type) {
        return type.isArray() || type == Class.class || type == Optional.class;
    }

    private static MethodHandle handle(@Nullable Member member) {
        if (member == null
                || Modifier.isStatic(member.getModifiers())
                || !((AccessibleObject) member).trySetAccessible()) {
            return LEFT_TO_SPEL;
        }
        try {
            MethodHandle handle = member instanceof Method getter
                    ? MethodHandles.lookup().unreflect(getter)
                    : MethodHandles.lookup().unreflectGetter((Field) member);
            return handle.asType(READING);
        } catch (IllegalAccessException ex) {
            return LEFT_TO_SPEL;
        }
    }

    /** Makes accessible to us what SpEL's accessor finds. */
    private static final class Members extends ReflectivePropertyAccessor {

        @Nullable
        Member find(String property, Class<?> type) {
            Method getter = findGetterForProperty(property, type, false);
            return getter != null ? getter : findField(property, type, false);
        }
    }
}
