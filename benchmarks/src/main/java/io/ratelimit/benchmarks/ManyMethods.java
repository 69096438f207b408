package io.ratelimit.benchmarks;

import io.ratelimit.annotation.RateLimited;
import java.lang.invoke.MethodHandles;
import org.springframework.asm.AnnotationVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

/** Writes classes with very many methods. */
final class ManyMethods {

    private static final String QUOTE = "(Ljava/lang/String;)Ljava/lang/String;";

    private ManyMethods() {}

    /** @param annotated whether each method has a limit of its own, with an expression for the key */
    static Class<?>[] classes(int count, int methods, boolean annotated) {
        Class<?>[] classes = new Class<?>[count];
        for (int i = 0; i < count; i++) {
            classes[i] = define("ManyQuotes" + i, methods, annotated);
        }
        return classes;
    }

    private static Class<?> define(String name, int methods, boolean annotated) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        String superclass = Type.getInternalName(Object.class);
        String qualified = Type.getInternalName(ManyMethods.class).replace("ManyMethods", name);
        writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, qualified, null, superclass, null);
        MethodVisitor constructor = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
        constructor.visitVarInsn(Opcodes.ALOAD, 0);
        constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, superclass, "<init>", "()V", false);
        constructor.visitInsn(Opcodes.RETURN);
        constructor.visitMaxs(0, 0);
        for (int i = 0; i < methods; i++) {
            MethodVisitor method = writer.visitMethod(Opcodes.ACC_PUBLIC, "quote" + i, QUOTE, null, null);
            if (annotated) {
                annotate(method);
            }
            method.visitVarInsn(Opcodes.ALOAD, 1);
            method.visitInsn(Opcodes.ARETURN);
            method.visitMaxs(0, 0);
        }
        writer.visitEnd();
        try {
            return MethodHandles.lookup().defineClass(writer.toByteArray());
        } catch (IllegalAccessException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void annotate(MethodVisitor method) {
        AnnotationVisitor annotation = method.visitAnnotation(Type.getDescriptor(RateLimited.class), true);
        annotation.visit("rate", "100/s");
        annotation.visit("keyExpression", "#p0");
        annotation.visitEnd();
    }
}
