package io.ratelimit.testing.api;

import static java.util.stream.Collectors.joining;

import io.ratelimit.Internal;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericDeclaration;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes the public and protected signatures of what is not {@link Internal}, one a line, sorted. */
final class ApiSignatures {

    private ApiSignatures() {}

    /** Writes those of the class files in a directory. */
    static List<String> in(Path classes) throws IOException {
        try (Stream<Path> files = Files.walk(classes)) {
            return files.map(file -> classes.relativize(file).toString())
                    .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class"))
                    .map(file -> file.replaceFirst("\\.class$", "").replaceAll("[/\\\\]", "."))
                    // Before the class is loaded: its supertypes may be of a library that is not on the class path.
                    .filter(name ->
                            !load(name.replaceFirst("[^.]+$", "package-info")).isAnnotationPresent(Internal.class))
                    .map(ApiSignatures::load)
                    .filter(ApiSignatures::isApi)
                    .flatMap(ApiSignatures::of)
                    .sorted()
                    .distinct()
                    .toList();
        }
    }

    /** Writes those of one type. */
    static Stream<String> of(Class<?> type) {
        return Stream.concat(
                Stream.of(type.getName() + ": " + declaration(type)),
                visibleParts(type).flatMap(ApiSignatures::members).map(member -> type.getName() + ": " + member));
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, ApiSignatures.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isApi(Class<?> type) {
        if (type.isAnonymousClass() || type.isLocalClass() || !isVisible(type.getModifiers())) {
            return false;
        }
        Class<?> outer = type.getDeclaringClass();
        return !type.isAnnotationPresent(Internal.class) && (outer == null || isApi(outer));
    }

    /** Names the type, and the package-private superclasses from which it has members. */
    private static Stream<Class<?>> visibleParts(Class<?> type) {
        return Stream.concat(
                Stream.of(type),
                Stream.<Class<?>>iterate(
                        type.getSuperclass(),
                        superclass -> superclass != null && !isVisible(superclass.getModifiers()),
                        Class::getSuperclass));
    }

    private static Stream<String> members(Class<?> type) {
        return Stream.of(
                        Arrays.stream(type.getDeclaredConstructors())
                                .filter(ApiSignatures::isVisible)
                                .map(ApiSignatures::signature),
                        Arrays.stream(type.getDeclaredMethods())
                                .filter(ApiSignatures::isVisible)
                                .filter(method -> !method.isAnnotationPresent(Internal.class))
                                .map(ApiSignatures::signature),
                        Arrays.stream(type.getDeclaredFields())
                                .filter(ApiSignatures::isVisible)
                                .map(ApiSignatures::signature))
                .flatMap(signatures -> signatures);
    }

    private static boolean isVisible(Member member) {
        return isVisible(member.getModifiers()) && !member.isSynthetic();
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static String declaration(Class<?> type) {
        String kind = type.isAnnotation()
                ? "annotation"
                : type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        int shown = type.isInterface() ? ~(Modifier.ABSTRACT | Modifier.INTERFACE | Modifier.STATIC) : ~0;
        return modifiers(type.getModifiers() & shown & Modifier.classModifiers())
                + kind
                + variables(type).stripTrailing()
                + superclass(type)
                + (type.isAnnotation() ? "" : list(" implements ", type.getGenericInterfaces()));
    }

    private static String superclass(Class<?> type) {
        Type superclass = type.getGenericSuperclass();
        return superclass == null || superclass == Object.class ? "" : " extends " + name(superclass);
    }

    private static String signature(Constructor<?> constructor) {
        return modifiers(constructor.getModifiers() & Modifier.constructorModifiers()) + "new"
                + parameters(constructor);
    }

    private static String signature(Method method) {
        return modifiers(method.getModifiers() & ~Modifier.SYNCHRONIZED & Modifier.methodModifiers())
                + (method.isDefault() ? "default " : "")
                + variables(method)
                + name(method.getAnnotatedReturnType(), method)
                + " "
                + method.getName()
                + parameters(method)
                + (method.getDefaultValue() == null ? "" : " default");
    }

    private static String signature(Field field) {
        return modifiers(field.getModifiers() & ~Modifier.VOLATILE & Modifier.fieldModifiers())
                + name(field.getAnnotatedType(), field)
                + " "
                + field.getName();
    }

    /** Leaves out what most are. */
    private static String modifiers(int modifiers) {
        String shown = Modifier.toString(modifiers & ~Modifier.PUBLIC);
        return shown.isEmpty() ? "" : shown + " ";
    }

    private static String parameters(Executable executable) {
        AnnotatedType[] types = executable.getAnnotatedParameterTypes();
        return IntStream.range(0, types.length)
                        .mapToObj(i -> name(types[i], executable.getParameters()[i]))
                        .collect(joining(", ", "(", ")"))
                + list(" throws ", executable.getGenericExceptionTypes());
    }

    private static String variables(GenericDeclaration declaration) {
        return Arrays.stream(declaration.getTypeParameters())
                .map(variable ->
                        variable + list(" extends ", variable.getBounds()).replaceFirst(" extends Object$", ""))
                .reduce((first, second) -> first + ", " + second)
                .map(all -> "<" + all + "> ")
                .orElse("");
    }

    private static String list(String before, Type[] types) {
        return types.length == 0
                ? ""
                : Arrays.stream(types).map(ApiSignatures::name).collect(joining(", ", before, ""));
    }

    private static String name(AnnotatedType type, AnnotatedElement owner) {
        boolean nullable = type.isAnnotationPresent(Nullable.class) || owner.isAnnotationPresent(Nullable.class);
        return (nullable ? "@Nullable " : "") + name(type.getType());
    }

    private static String name(Type type) {
        return type.getTypeName().replaceAll("\\bjava\\.lang\\.(?=[A-Z])", "");
    }
}
