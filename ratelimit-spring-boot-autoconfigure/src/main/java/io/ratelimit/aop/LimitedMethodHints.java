package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.LimitedBeans.BeanMethod;
import io.ratelimit.expression.ExpressionHints;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Prepares limited methods for AOT processing: registers what a native image needs to find and to limit them, and lets the
 * start-up check that it finds each of them again. Comes before the processing of bean definitions, because it adds one.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class LimitedMethodHints implements BeanFactoryInitializationAotProcessor {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final List<String> EXPRESSIONS =
            List.of("keyExpression", "permits", "condition", "permitsAfter", "planExpression");

    private static final Bindable<Map<String, String>> PROPERTIES = Bindable.mapOf(String.class, String.class);

    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beans) {
        if (beans.getBeanNamesForType(LimitedMethodResolver.class, true, false).length == 0) {
            return null;
        }
        LimitedMethodResolver methods = beans.getBean(LimitedMethodResolver.class);
        List<String> configured = configured(beans.getBean(Environment.class));
        methods.pointcuts().all().forEach(LimitedMethodHints::warn);
        List<BeanMethod> found = LimitedBeans.find(beans, methods, name -> beans.getType(name, false), name -> false);
        keep(beans, found);
        return (context, code) -> {
            ReflectionHints hints = context.getRuntimeHints().reflection();
            ExpressionHints expressions = new ExpressionHints(beans, hints, beans.getBeanClassLoader());
            configured.forEach(expressions::register);
            found.forEach(method -> register(method, configured, expressions, hints));
            context.getRuntimeHints().proxies().registerJdkProxy(RateLimited.class);
        };
    }

    /** Lets AOT processing generate the bean. */
    private static void keep(ConfigurableListableBeanFactory beans, List<BeanMethod> found) {
        Set<String> signatures = found.stream()
                .filter(method -> method.method().annotated())
                .map(BeanMethod::signature)
                .collect(Collectors.toUnmodifiableSet());
        BeanDefinition definition = BeanDefinitionBuilder.rootBeanDefinition(ProcessedMethods.class)
                .addConstructorArgValue(signatures)
                .setRole(BeanDefinition.ROLE_INFRASTRUCTURE)
                .getBeanDefinition();
        ((BeanDefinitionRegistry) beans).registerBeanDefinition("rateLimitProcessedMethods", definition);
    }

    private static void warn(LimitPointcut pointcut) {
        logger.log(
                Level.WARNING,
                pointcut.property() + " cannot be used in a native image, which will not start. On a JVM it applies.");
    }

    private static List<String> configured(Environment environment) {
        return Binder.get(environment).bind("ratelimit.limits", PROPERTIES).orElse(Map.of()).entrySet().stream()
                .filter(property -> isExpression(StringUtils.unqualify(property.getKey())))
                .map(Map.Entry::getValue)
                .filter(StringUtils::hasText)
                .toList();
    }

    /** A property may be spelled in other ways. */
    private static boolean isExpression(String property) {
        return EXPRESSIONS.stream().anyMatch(name -> LimitNames.canonical(name).equals(LimitNames.canonical(property)));
    }

    private static void register(
            BeanMethod found, List<String> configured, ExpressionHints expressions, ReflectionHints hints) {
        Class<?> type = ClassUtils.getUserClass(found.type());
        // They may declare limited methods, annotations and fallback methods.
        TypeHierarchy.all(type).filter(part -> part != Object.class).distinct().forEach(part -> {
            hints.registerType(part, MemberCategory.INVOKE_DECLARED_METHODS);
            annotations(MergedAnnotations.from(part), hints);
        });
        Method method = found.method().method();
        hints.registerMethod(method, ExecutableMode.INVOKE);
        annotations(MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY), hints);
        RateLimitAnnotations.find(method, type).stream()
                .flatMap(annotation -> EXPRESSIONS.stream()
                        .map(name -> (String) AnnotationUtils.getValue(annotation.annotation(), name)))
                .filter(StringUtils::hasText)
                .forEach(expression -> expressions.register(expression, method, type));
        configured.forEach(expression -> expressions.register(expression, method, type));
    }

    /** Registers an annotation that is annotated itself; its attributes may be those of {@link RateLimited}. */
    private static void annotations(MergedAnnotations annotations, ReflectionHints hints) {
        annotations.stream(RateLimited.class)
                .forEach(annotation ->
                        hints.registerType(annotation.getRoot().getType(), MemberCategory.INVOKE_DECLARED_METHODS));
    }
}
