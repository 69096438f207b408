package io.ratelimit.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Registers the types that expressions reach, because SpEL finds only registered members in a native image. Follows the
 * declared types from parameters and beans on. If an expression reaches a type that no declaration names, its evaluation
 * fails, and so does the call.
 */
public final class ExpressionHints {

    private final ExpressionTypes types;

    private final SpelExpressionParser parser = new SpelExpressionParser();

    private final DefaultParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

    public ExpressionHints(BeanFactory beans, ReflectionHints hints, @Nullable ClassLoader loader) {
        this.types = new ExpressionTypes(beans, loader, new ExpressionTypes.Visitor() {
            @Override
            public void reached(Class<?> type) {
                hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
            }

            @Override
            public void constructed(Class<?> type) {
                hints.registerType(type, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
            }

            @Override
            public void read(Field field) {
                hints.registerField(field);
            }
        });
    }

    /** Registers what an expression of a method reaches. One that cannot be parsed is reported at start-up. */
    public void register(String expression, Method method) {
        ArgumentPositions arguments = ArgumentPositions.of(method, parameterNames.getParameterNames(method));
        register(expression, ExpressionRoot.class, ExpressionTypes.variables(method, arguments));
    }

    /** Registers what an expression of a URL rule reaches. */
    public void register(String expression) {
        register(expression, RequestRoot.class, Map.of());
    }

    private void register(String expression, Class<?> root, Map<String, ResolvableType> variables) {
        try {
            var unused = types.of(parser.parseRaw(expression).getAST(), root, variables);
        } catch (ParseException | IllegalStateException ex) {
            // Reported at start-up.
        }
    }
}
