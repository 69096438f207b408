package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.aspectj.weaver.tools.UnsupportedPointcutPrimitiveException;
import org.springframework.aop.aspectj.AspectJExpressionPointcut;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Selects the methods of a limit in the configuration. Matches by class and method only, not by arguments.
 *
 * @param limit the name of the limit
 * @param property the property with its value, for messages
 */
record LimitPointcut(String limit, String property, AspectJExpressionPointcut pointcut) {

    /** Matches designators that depend on a call or a bean. */
    private static final Pattern UNSUPPORTED =
            Pattern.compile("(?:^|[(!&|]|\\b(?:and|or|not)\\b)\\s*(@args|args|@target|bean)\\s*\\(");

    private static final Pattern NO_SUCH_TYPE = Pattern.compile("no match for this type name: ([\\w.$]+)");

    /**
     * Parses a pointcut.
     *
     * @param property such as {@code ratelimit.limits.quotes.pointcut}
     * @throws RateLimitConfigurationException if the text is not a pointcut or uses an unsupported designator
     */
    static LimitPointcut of(String limit, String property, String expression, ListableBeanFactory beans) {
        String label = property + " \"" + expression + "\"";
        var beyond = UNSUPPORTED.matcher(expression);
        if (beyond.find()) {
            throw new RateLimitConfigurationException(
                    label + " uses " + beyond.group(1) + "(), but a pointcut of a limit names methods.",
                    "Use execution(), within(), target(), @annotation() or @within(); ratelimit.limits." + limit
                            + ".condition decides by arguments.");
        }
        AspectJExpressionPointcut pointcut = new AspectJExpressionPointcut();
        pointcut.setBeanFactory(beans);
        pointcut.setExpression(expression);
        try {
            var unused = pointcut.getPointcutExpression();
        } catch (IllegalArgumentException | UnsupportedPointcutPrimitiveException ex) {
            throw invalid(label, ex);
        }
        return new LimitPointcut(limit, label, pointcut);
    }

    private static RateLimitConfigurationException invalid(String label, RuntimeException ex) {
        String firstLine = String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
        String message = firstLine.replaceAll("[\\s.]+$", "");
        String example = "Write an AspectJ expression such as \"execution(* com.acme.QuoteClient.*(..))\".";
        Matcher missing = NO_SUCH_TYPE.matcher(message);
        return missing.find()
                ? new RateLimitConfigurationException(
                        label + " must name classes: no class matches " + missing.group(1) + ".", example, ex)
                : new RateLimitConfigurationException(label + " is not a pointcut: " + message + ".", example, ex);
    }

    /** Returns whether methods of the class may match; a quick check. */
    boolean mayMatch(Class<?> type) {
        return hasOnlyInterfaces(type)
                ? ClassUtils.getAllInterfacesForClassAsSet(type).stream().anyMatch(pointcut::matches)
                : pointcut.matches(type);
    }

    /** @param type the class of the bean; a proxy or lambda counts as if it declared the methods of its interfaces */
    boolean matches(Method method, Class<?> type) {
        if (!hasOnlyInterfaces(type)) {
            return matchesIn(type, method);
        }
        return matchesIn(proxied(type), method) || matchesIn(method.getDeclaringClass(), method);
    }

    private boolean matchesIn(Class<?> type, Method method) {
        return pointcut.matches(type) && pointcut.matches(method, type);
    }

    private static boolean hasOnlyInterfaces(Class<?> type) {
        return type.isInterface() || Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type);
    }

    /** Returns a type that also matches patterns for methods that the interfaces inherit, as in Spring AOP. */
    private static Class<?> proxied(Class<?> type) {
        return Proxy.isProxyClass(type)
                ? type
                : ClassUtils.createCompositeInterface(ClassUtils.getAllInterfacesForClass(type), type.getClassLoader());
    }
}
