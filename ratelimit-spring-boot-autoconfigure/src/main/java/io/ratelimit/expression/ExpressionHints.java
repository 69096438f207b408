package io.ratelimit.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Registers the types that expressions reach, because SpEL finds only registered members in a native image. Follows the
 * declared types from parameters and beans on. If an expression reaches a type that no declaration names, its evaluation
 * fails, and so does the call.
 */
public final class ExpressionHints {

    private final BeanFactory beans;

    private final @Nullable ClassLoader loader;

    private final ExpressionTypes.Visitor visitor;

    private final SpelExpressionParser parser = new SpelExpressionParser();

    private final DefaultParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

    public ExpressionHints(BeanFactory beans, ReflectionHints hints, @Nullable ClassLoader loader) {
        this.beans = beans;
        this.loader = loader;
        this.visitor = new ExpressionTypes.Visitor() {
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
        };
    }

    /** Registers what an expression of a method reaches. One that cannot be parsed is reported at start-up. */
    public void register(String expression, Method method, Class<?> targetClass) {
        register(expression, ExpressionScope.of(method, targetClass, parameterNames, () -> CallerFacts.REQUEST));
    }

    /** Registers what an expression of a URL rule reaches. */
    public void register(String expression) {
        register(expression, ExpressionScope.ofRequest("", List.of()));
    }

    private void register(String expression, ExpressionScope scope) {
        try {
            var unused = new ExpressionTypes(beans, loader, visitor, scope)
                    .of(parser.parseRaw(expression).getAST());
        } catch (ParseException | IllegalStateException ex) {
            // Reported at start-up.
        }
    }
}
