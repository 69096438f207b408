package io.ratelimit.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * Follows the declared types in expressions, from parameters and beans on. A value may be of a subclass that has more than its
 * declaration says.
 *
 * @param root the type of the object on which arguments are evaluated
 */
record ExpressionTypes(
        BeanFactory beans,
        StandardTypeLocator types,
        ExpressionTypes.Visitor visitor,
        ResolvableType root,
        Map<String, ResolvableType> variables) {

    /** Is told what expressions reach. */
    interface Visitor {

        /** A value of that type. */
        default void reached(Class<?> type) {}

        /** A constructor. */
        default void constructed(Class<?> type) {}

        /** A field that is no property. */
        default void read(Field field) {}

        /** A property of a value of that type. */
        default void property(Class<?> type, String name) {}

        /** A method of a value of that type. */
        default void method(Class<?> type, String name) {}

        default void variable(String name) {}

        default void bean(String name) {}

        default void function() {}
    }

    ExpressionTypes(BeanFactory beans, @Nullable ClassLoader loader, Visitor visitor, ExpressionScope scope) {
        this(
                beans,
                new StandardTypeLocator(loader),
                visitor,
                ResolvableType.forClass(scope.root()),
                new HashMap<>(scope.types()));
        variables.put("root", root);
    }

    /** Returns the declared types of a method's parameters and of its result, by the names that expressions have for them. */
    static Map<String, ResolvableType> variables(Method method, Class<?> targetClass, Map<String, Integer> arguments) {
        Map<String, ResolvableType> variables = new HashMap<>();
        variables.put("result", resultOf(method, targetClass));
        variables.put("exception", ResolvableType.forClass(Throwable.class));
        arguments.forEach((name, position) ->
                variables.put(name, ResolvableType.forMethodParameter(method, position, targetClass)));
        return variables;
    }

    /** Returns the declared type of a result: that of a future's or publisher's values. */
    private static ResolvableType resultOf(Method method, Class<?> targetClass) {
        ResolvableType returned = ResolvableType.forMethodReturnType(method, targetClass);
        Class<?> type = returned.resolve();
        return type != null && KeyFormatter.isAwaited(type) ? returned.getGeneric() : returned;
    }

    /** Returns the declared type of the expression's value; {@link ResolvableType#NONE} if no declaration names it. */
    ResolvableType of(SpelNode expression) {
        return visit(expression, root);
    }

    /** Returns the type of the node's value on a target; {@link ResolvableType#NONE} if no declaration names it. */
    private ResolvableType visit(SpelNode node, ResolvableType target) {
        ResolvableType type = type(node, target);
        Class<?> reached = type.resolve();
        if (reached != null) {
            visitor.reached(ClassUtils.resolvePrimitiveIfNecessary(reached));
        }
        return type;
    }

    private ResolvableType type(SpelNode node, ResolvableType target) {
        if (node instanceof CompoundExpression) {
            ResolvableType current = target;
            for (int i = 0; i < node.getChildCount(); i++) {
                // SpEL may read the value of an optional one, or the optional one itself.
                boolean isEither =
                        ((SpelNodeImpl) node.getChild(i)).isNullSafe() && current.resolve() == Optional.class;
                current = visit(node.getChild(i), isEither ? ResolvableType.NONE : current);
            }
            return current;
        }
        if (node instanceof PropertyOrFieldReference property) {
            return property(target, property.getName());
        }
        if (node instanceof VariableReference) {
            return variable(node.toStringAST().substring(1), target);
        }
        if (node instanceof BeanReference) {
            return bean(node.toStringAST().replaceAll("[@&']", ""));
        }
        if (node instanceof TypeReference) {
            return named(node.getChild(0));
        }
        if (node instanceof Selection || node instanceof Projection) {
            ResolvableType element = element(target);
            new ExpressionTypes(beans, types, visitor, element, variables).visit(node.getChild(0), element);
            return node.toStringAST().startsWith("?[") ? target : ResolvableType.NONE;
        }
        return ofChildren(node, target);
    }

    private ResolvableType ofChildren(SpelNode node, ResolvableType target) {
        boolean onRoot = node instanceof MethodReference || node instanceof Indexer;
        ResolvableType[] children = new ResolvableType[node.getChildCount()];
        for (int i = 0; i < children.length; i++) {
            children[i] = isKey(node, i) ? ResolvableType.NONE : visit(node.getChild(i), onRoot ? root : target);
        }
        if (node instanceof MethodReference called) {
            Class<?> type = target.resolve();
            if (type != null) {
                visitor.method(ClassUtils.resolvePrimitiveIfNecessary(type), called.getName());
            }
            return method(target, called.getName(), children.length);
        }
        if (node instanceof FunctionReference) {
            visitor.function();
        }
        if (node instanceof Indexer) {
            return node.getChild(0) instanceof StringLiteral name && !KeyFormatter.isSeveral(target.toClass())
                    ? property(target, String.valueOf(name.getLiteralValue().getValue()))
                    : element(target);
        }
        if (node instanceof ConstructorReference) {
            ResolvableType created = named(node.getChild(0));
            if (created.resolve() != null) {
                visitor.constructed(created.toClass());
            }
            return created;
        }
        if (node instanceof OpPlus && Stream.of(children).anyMatch(child -> child.resolve() == String.class)) {
            return ResolvableType.forClass(String.class);
        }
        if (node instanceof Literal literal) {
            return ResolvableType.forInstance(literal.getLiteralValue().getValue());
        }
        if (node instanceof Ternary) {
            return children[1];
        }
        // It may be the value of an optional one.
        return node instanceof Elvis && children[0].resolve() != Optional.class ? children[0] : ResolvableType.NONE;
    }

    /** A name alone is the key of a map. */
    private static boolean isKey(SpelNode node, int child) {
        return node.getChild(child) instanceof PropertyOrFieldReference
                && (node instanceof Indexer || (node instanceof InlineMap && child % 2 == 0));
    }

    private ResolvableType variable(String name, ResolvableType target) {
        visitor.variable(name);
        return name.equals("this") ? target : variables.getOrDefault(name, ResolvableType.NONE);
    }

    private ResolvableType bean(String name) {
        visitor.bean(name);
        Class<?> type = beans.containsBean(name) ? beans.getType(name, false) : null;
        return type == null ? ResolvableType.NONE : ResolvableType.forClass(ClassUtils.getUserClass(type));
    }

    private ResolvableType named(SpelNode identifier) {
        try {
            return ResolvableType.forClass(types.findType(identifier.toStringAST()));
        } catch (EvaluationException ex) {
            return ResolvableType.NONE;
        }
    }

    private ResolvableType property(ResolvableType target, String name) {
        Class<?> type = target.resolve();
        if (type == null) {
            return ResolvableType.NONE;
        }
        visitor.property(ClassUtils.resolvePrimitiveIfNecessary(type), name);
        Member member = PropertyReader.find(name, type);
        if (member instanceof Field field) {
            visitor.read(field);
            return ResolvableType.forField(field, target);
        }
        return member instanceof Method getter ? returned(target, getter) : ResolvableType.NONE;
    }

    private static ResolvableType returned(ResolvableType target, Method method) {
        return ResolvableType.forType(method.getGenericReturnType(), target.as(method.getDeclaringClass()));
    }

    /** Returns the declared type of the value; {@link ResolvableType#NONE} if overloaded methods have different ones. */
    private static ResolvableType method(ResolvableType target, String name, int arguments) {
        Class<?> type = target.resolve();
        return type == null
                ? ResolvableType.NONE
                : Arrays.stream(type.getMethods())
                        .filter(method -> method.getName().equals(name) && !method.isBridge())
                        .filter(method -> method.getParameterCount() == arguments || method.isVarArgs())
                        .map(method -> returned(target, method))
                        .reduce((one, other) -> one.resolve() == other.resolve() ? one : ResolvableType.NONE)
                        .orElse(ResolvableType.NONE);
    }

    private static ResolvableType element(ResolvableType target) {
        if (target.isArray()) {
            return target.getComponentType();
        }
        ResolvableType map = target.as(Map.class);
        return map.resolve() != null
                ? map.getGeneric(1)
                : target.as(Collection.class).getGeneric();
    }
}
