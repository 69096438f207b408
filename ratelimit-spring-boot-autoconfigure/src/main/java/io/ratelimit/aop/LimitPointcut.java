package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.aspectj.weaver.tools.UnsupportedPointcutPrimitiveException;
import org.springframework.aop.aspectj.AspectJExpressionPointcut;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/** The methods that the configuration puts a limit on. Decides by class and method alone, never by a call. */
final class LimitPointcut {

    /** Where an operand may begin, and then what would have to be asked anew at each call, or of a bean. */
    private static final Pattern NOT_OF_METHODS =
            Pattern.compile("(?:^|[(!&|]|\\b(?:and|or|not)\\b)\\s*(@args|args|@target|bean)\\s*\\(");

    private static final Pattern NO_SUCH_TYPE = Pattern.compile("no match for this type name: ([\\w.$]+)");

    /** A package or class at the beginning of a pattern: what comes before a wildcard or a method. */
    private static final Pattern TYPE_PATTERN = Pattern.compile("(\\w+(?:\\.\\w+)*)(?:\\.\\.|\\.\\*|\\.\\w+\\()");

    private final String limit;

    private final String property;

    private final String expression;

    private final AspectJExpressionPointcut pointcut = new AspectJExpressionPointcut();

    /**
     * @param property where it stands, {@code ratelimit.limits.quotes.pointcut}
     * @throws RateLimitConfigurationException if the text is no pointcut, or one of more than methods
     */
    LimitPointcut(String limit, String property, String expression, ListableBeanFactory beans) {
        this.limit = limit;
        this.property = property + " \"" + expression + "\"";
        this.expression = expression;
        var beyond = NOT_OF_METHODS.matcher(expression);
        if (beyond.find()) {
            throw new RateLimitConfigurationException(
                    this.property + " uses " + beyond.group(1) + "(), but a pointcut of a limit names methods.",
                    "Use execution(), within(), target(), @annotation() or @within(); ratelimit.limits." + limit
                            + ".condition decides by arguments.");
        }
        pointcut.setBeanFactory(beans);
        pointcut.setExpression(expression);
        try {
            var unused = pointcut.getPointcutExpression();
        } catch (IllegalArgumentException | UnsupportedPointcutPrimitiveException ex) {
            throw mistake(ex, beans);
        }
    }

    private RateLimitConfigurationException mistake(RuntimeException ex, ListableBeanFactory beans) {
        String message = firstLine(ex);
        String example = "Write an AspectJ expression such as \"execution(* com.acme.QuoteClient.*(..))\".";
        Matcher missing = NO_SUCH_TYPE.matcher(message);
        return missing.find()
                ? new RateLimitConfigurationException(
                        property + " must name classes: no class matches " + missing.group(1) + ".",
                        didYouMean(missing.group(1), new QualifiedNames(beans)).orElse("") + example,
                        ex)
                : new RateLimitConfigurationException(property + " is not a pointcut: " + message + ".", example, ex);
    }

    /** Names what was probably meant by the first of its patterns that looks like something else; empty: nothing does. */
    String suggestion(ListableBeanFactory beans) {
        QualifiedNames names = new QualifiedNames(beans);
        return TYPE_PATTERN
                .matcher(expression)
                .results()
                .map(pattern -> pattern.group(1))
                .filter(name -> !names.contains(name))
                .flatMap(name -> didYouMean(name, names).stream())
                .findFirst()
                .orElse("");
    }

    private static Optional<String> didYouMean(String name, QualifiedNames names) {
        return names.nearest(name).map(nearest -> "Did you mean " + nearest + "? ");
    }

    private static String firstLine(Exception ex) {
        String message = String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
        return message.replaceAll("[\\s.]+$", "");
    }

    /** The name of the limit. */
    String limit() {
        return limit;
    }

    /** Property and text. */
    String property() {
        return property;
    }

    /** Whether there may be a match among the methods of a class; a quick look. */
    boolean mayMatch(Class<?> type) {
        return isAnsweredByInterfaces(type)
                ? ClassUtils.getAllInterfacesForClassAsSet(type).stream().anyMatch(pointcut::matches)
                : pointcut.matches(type);
    }

    /** @param type the class of the bean; what is nothing but its interfaces has their methods as if it redeclared them */
    boolean matches(Method method, Class<?> type) {
        if (!isAnsweredByInterfaces(type)) {
            return matchesIn(type, method);
        }
        return matchesIn(proxied(type), method) || matchesIn(method.getDeclaringClass(), method);
    }

    private boolean matchesIn(Class<?> type, Method method) {
        return pointcut.matches(type) && pointcut.matches(method, type);
    }

    private static boolean isAnsweredByInterfaces(Class<?> type) {
        return type.isInterface() || Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type);
    }

    /** As Spring has it: then a pattern for an interface holds for what that inherits, too. */
    private static Class<?> proxied(Class<?> type) {
        return Proxy.isProxyClass(type)
                ? type
                : ClassUtils.createCompositeInterface(ClassUtils.getAllInterfacesForClass(type), type.getClassLoader());
    }
}
