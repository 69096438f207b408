package io.ratelimit.expression;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.PlanCacheManager;
import io.ratelimit.spi.RateLimitKeyResolver;
import io.ratelimit.spi.RateLimitPlanResolver;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.NativeDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/** Parses and validates expressions at startup, and creates the contexts for their evaluation. */
public final class RateLimitExpressionParser {

    private static final Pattern BEAN = Pattern.compile("\\s*@([\\w$]+)\\s*");

    private static final Pattern IN_BRACES = Pattern.compile("#\\{\\s*(.+?)\\s*}");

    private static final Set<String> REQUEST_PROPERTIES = Set.of("clientIp", "principal");

    private final SpelExpressionParser parser;

    private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

    private final ConfigurableListableBeanFactory beans;

    private final BeanResolver beanResolver;

    private final Function<Method, CallerFacts> facts;

    /** @param facts what expressions of a method can read from the request */
    public RateLimitExpressionParser(ConfigurableListableBeanFactory beans, Function<Method, CallerFacts> facts) {
        this.beans = beans;
        this.beanResolver = new BeanFactoryResolver(beans);
        this.facts = facts;
        // A native image cannot define classes.
        SpelCompilerMode mode = NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED;
        this.parser = new SpelExpressionParser(new SpelParserConfiguration(mode, beans.getBeanClassLoader()));
    }

    /** Returns the names that expressions of a method can use. */
    public ExpressionScope scope(Method method, Class<?> targetClass) {
        return ExpressionScope.of(method, targetClass, parameterNames, () -> facts.apply(method));
    }

    /**
     * Creates a context for SpEL. NullAway: Spring accepts null arguments.
     *
     * @param method {@code null}: the root object is a request to a URL
     * @param arguments all of them, including the continuation of Kotlin
     * @param variables of a request to a URL
     */
    @SuppressWarnings("NullAway")
    EvaluationContext context(
            RequestRoot root, @Nullable Method method, @Nullable Object[] arguments, Map<String, ?> variables) {
        StandardEvaluationContext context = method == null
                ? new StandardEvaluationContext(root)
                : new MethodBasedEvaluationContext(root, method, arguments, parameterNames);
        context.setBeanResolver(beanResolver);
        variables.forEach(context::setVariable);
        return context;
    }

    /**
     * Parses and validates an expression.
     *
     * @param attribute such as {@code keyExpression} or {@code ratelimit.limits.quotes.key-expression}
     * @param results the classes that the value may have; none: any
     * @throws RateLimitConfigurationException if the text is not an expression, uses an unknown name, or its declared type rules
     *     those classes out
     */
    RateLimitExpression parse(String text, String attribute, ExpressionScope scope, Class<?>... results) {
        SpelExpression expression;
        try {
            expression = parser.parseRaw(text);
        } catch (ParseException | IllegalStateException ex) {
            throw new RateLimitConfigurationException(
                    attribute + " \"" + text + "\" cannot be parsed: " + ex.getMessage() + ".",
                    didYouMean(text) + "Write a SpEL expression such as \"#userId\".",
                    ex);
        }
        Validation validation = new Validation(attribute + " \"" + text + "\"", scope);
        Class<?> type = new ExpressionTypes(beans, beans.getBeanClassLoader(), validation, scope)
                .of(expression.getAST())
                .resolve();
        if (type != null && KeyFormatter.isAwaited(type)) {
            throw validation.mistake(
                    " must return the value itself, because nothing waits for it (was " + type.getTypeName() + ").",
                    "Determine the value before the call, and pass it to the method; or return it from a cache.");
        }
        if (type != null && results.length > 0 && Stream.of(results).noneMatch(result -> mayBe(type, result))) {
            String wanted = results[0] == Boolean.class ? "true or false" : "a whole number";
            throw validation.mistake(
                    " must return " + wanted + " (was " + type.getTypeName() + ").", "Return such a value.");
        }
        return new RateLimitExpression(
                scope.place() + ": " + attribute + " \"" + text + "\"",
                expression,
                PropertyPath.of(expression.getAST(), scope),
                type,
                validation.namesPrincipal);
    }

    private static boolean mayBe(Class<?> declared, Class<?> result) {
        Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(declared);
        return type.isInterface() || type.isAssignableFrom(result) || result.isAssignableFrom(type);
    }

    /**
     * Parses an expression for a key.
     *
     * @throws RateLimitConfigurationException also if the declared type of its value has no text
     */
    LimitKey key(String text, String attribute, ExpressionScope scope) {
        RateLimitExpression expression = parse(text, attribute, scope);
        Class<?> type = expression.type();
        if (type != null && !KeyFormatter.mayBeKey(type)) {
            throw new RateLimitConfigurationException(
                    attribute + " \"" + text + "\" must return a single value with its own toString() (was "
                            + type.getTypeName() + ").",
                    "Read a property that tells callers apart, such as #user.id; join several values with '+'.");
        }
        if (expression.isEmpty()) {
            throw new RateLimitConfigurationException(
                    attribute + " must return a key (was \"" + text + "\").",
                    "Read what tells callers apart, or write " + LimitConfiguration.ALL_CALLERS + " for one bucket.");
        }
        return expression;
    }

    /**
     * Parses an expression for the actual cost of a call or request. Of a method it can use {@code #result} and
     * {@code #exception}, and a reference to a bean of type {@link Collector} alone is a collector of all results. Of a request it
     * can use {@code #status}.
     */
    @SuppressWarnings("unchecked")
    ActualCost actualCost(String text, String attribute, ExpressionScope scope) {
        RateLimitExpression expression = parse(text, attribute, scope.afterwards(attribute));
        Matcher bean = BEAN.matcher(text);
        boolean collects = scope.isOfMethod() && bean.matches() && beans.isTypeMatch(bean.group(1), Collector.class);
        return new ActualCost(
                expression,
                text.contains("#exception"),
                collects ? () -> (Collector<Object, Object, ?>) beans.getBean(bean.group(1), Collector.class) : null);
    }

    /**
     * Returns the key that a bean determines.
     *
     * @param attribute such as {@code keyResolver} or {@code ratelimit.limits.quotes.key-resolver}
     * @throws RateLimitConfigurationException if there is no such bean
     */
    LimitKey resolver(String bean, String attribute, ExpressionScope scope) {
        String hint = scope.isOfMethod() ? "" : ", which needs order: after-security if it reads the principal,";
        return new ResolvedKey(
                bean,
                scope.place() + ": " + attribute + " \"" + bean + "\"" + hint,
                bean(bean, attribute, RateLimitKeyResolver.class));
    }

    /**
     * Returns the plans that a bean finds.
     *
     * @param attribute such as {@code planResolver} or {@code ratelimit.limits.quotes.plan-resolver}
     * @throws RateLimitConfigurationException if there is no such bean
     */
    LimitPlan planResolver(String bean, String attribute, String limit) {
        Supplier<RateLimitPlanResolver> resolver = bean(bean, attribute, RateLimitPlanResolver.class);
        return new ResolvedPlan(bean, beans.getBean(PlanCacheManager.class).of(limit, bean, resolver));
    }

    /** Returns the plans that the only {@link RateLimitPlanResolver} bean finds; {@code null}: there is none, or there are several. */
    @Nullable
    LimitPlan onlyPlanResolver(String limit) {
        List<String> names = names(RateLimitPlanResolver.class);
        return names.size() == 1 ? planResolver(names.get(0), "planResolver", limit) : null;
    }

    private List<String> names(Class<?> type) {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false))
                .filter(name -> !ScopedProxyUtils.isScopedTarget(name))
                .sorted()
                .toList();
    }

    /** Looks a bean up at the first call, because it may depend on limited beans. */
    private <T> Supplier<T> bean(String bean, String attribute, Class<T> type) {
        if (!beans.containsBean(bean) || !beans.isTypeMatch(bean, type)) {
            List<String> names = names(type);
            throw new RateLimitConfigurationException(
                    attribute + " must be the name of a " + type.getSimpleName() + " bean (was \"" + bean + "\").",
                    LimitNames.didYouMean(bean, names, nearest -> nearest)
                            + (names.isEmpty()
                                    ? "There is no such bean. Declare one, or use an expression."
                                    : "There are: " + String.join(", ", names) + "."));
        }
        return SingletonSupplier.of(() -> beans.getBean(bean, type))::obtain;
    }

    /** Suggests the text without braces, which are used in {@code @Value}. */
    private static String didYouMean(String text) {
        Matcher inBraces = IN_BRACES.matcher(text);
        return inBraces.matches() ? "Did you mean \"" + inBraces.group(1) + "\"? " : "";
    }

    /** Validates the nodes of one expression. */
    private final class Validation implements ExpressionTypes.Visitor {

        private final String label;

        private final ExpressionScope scope;

        private boolean namesPrincipal;

        Validation(String label, ExpressionScope scope) {
            this.label = label;
            this.scope = scope;
        }

        private RateLimitConfigurationException mistake(String problem, String fix) {
            return new RateLimitConfigurationException(label + problem, fix);
        }

        @Override
        public void variable(String name) {
            if (!scope.hasVariable(name)) {
                throw scope.noSuchVariable(label, name);
            }
        }

        @Override
        public void function() {
            throw mistake(" calls a #function, and there are none.", "Call a method of a @bean.");
        }

        @Override
        public void property(Class<?> type, String name) {
            if (type == scope.root()) {
                checkProperty(name);
            } else if (PropertyReader.isMissing(name, type)) {
                throw mistake(
                        " reads '" + name + "', which is not a property of " + type.getName() + ".",
                        LimitNames.didYouMean(name, PropertyReader.names(type), nearest -> nearest) + "There are: "
                                + String.join(", ", PropertyReader.names(type)) + "." + scope.hintOnProperties());
            }
        }

        @Override
        public void bean(String name) {
            if (!beans.containsBean(name)) {
                throw mistake(
                        " names @" + name + ", but there is no bean of that name.",
                        "Use the name of a bean. A test of a slice needs it by @Import.");
            }
        }

        @Override
        public void method(Class<?> type, String name) {
            if (type != scope.root()) {
                // SpEL calls those of Class after T(…).
                List<String> methods = Stream.of(type, Class.class)
                        .flatMap(owner -> Stream.of(owner.getMethods()))
                        .map(Method::getName)
                        .toList();
                if (PropertyReader.isKnown(type) && !methods.contains(name)) {
                    String suggestion = LimitNames.didYouMean(name, methods, nearest -> nearest + "()");
                    throw mistake(
                            " calls '" + name + "()', which is not a method of " + type.getName() + ".",
                            (suggestion.isEmpty()
                                            ? "There are: " + methodsOf(type) + "."
                                            : suggestion + "Call a public method.")
                                    + scope.hintOnProperties());
                }
            } else if (name.equals("header")) {
                checkRequest(name);
            } else if (!ClassUtils.hasAtLeastOneMethodWithName(scope.root(), name)) {
                throw mistake(
                        " calls '" + name + "()', which is not a method of " + scope.subject() + ".",
                        scope.choices(name));
            } else if (name.equals("getPrincipal") || name.equals("getClientIp")) {
                checkProperty(StringUtils.uncapitalize(name.substring(3)));
            }
        }

        private static String methodsOf(Class<?> type) {
            return Stream.of(type.getMethods())
                    .filter(method -> method.getDeclaringClass() != Object.class)
                    .map(method -> method.getName() + "()")
                    .distinct()
                    .sorted()
                    .collect(Collectors.joining(", "));
        }

        private void checkRequest(String name) {
            CallerFacts known = scope.facts().get();
            String problem = known.problem(name);
            if (problem != null) {
                throw mistake(" uses " + name + ", but " + problem + ".", known.fix());
            }
        }

        private void checkProperty(String name) {
            if (REQUEST_PROPERTIES.contains(name)) {
                checkRequest(name);
                namesPrincipal |= name.equals("principal");
            } else if (!PropertyReader.names(scope.root()).contains(name)) {
                throw mistake(
                        " names '" + name + "', which is not a property of " + scope.subject() + ".",
                        scope.hasVariable(name) ? "Did you mean #" + name + "?" : scope.choices(name));
            }
        }
    }
}
