package io.ratelimit.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import io.ratelimit.Internal;
import java.util.Set;
import java.util.stream.Stream;

/** The types that a user meets by calling, implementing or extending a type. */
final class SignatureTypes {

    private SignatureTypes() {}

    static Stream<JavaClass> of(JavaClass type) {
        Stream<JavaType> above = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
        return Stream.concat(
                        above.flatMap(SignatureTypes::parts),
                        Stream.concat(
                                type.getFields().stream()
                                        .filter(SignatureTypes::isVisible)
                                        .flatMap(field -> parts(field.getType())),
                                type.getCodeUnits().stream()
                                        .filter(SignatureTypes::isVisible)
                                        .flatMap(SignatureTypes::parts)))
                .distinct();
    }

    private static Stream<JavaClass> parts(JavaCodeUnit code) {
        return Stream.concat(Stream.of(code.getReturnType()), code.getParameterTypes().stream())
                .flatMap(SignatureTypes::parts);
    }

    private static Stream<JavaClass> parts(JavaType type) {
        return type.getAllInvolvedRawTypes().stream();
    }

    private static boolean isVisible(JavaMember member) {
        Set<JavaModifier> modifiers = member.getModifiers();
        return !member.isAnnotatedWith(Internal.class)
                && (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED));
    }
}
