package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.expression.ChargeDescription;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Validates the limited methods of all beans at startup: resolves their limits, and checks that the proxies of created beans
 * intercept them.
 *
 * @param processed empty without AOT processing
 */
public record LimitedBeans(
        ConfigurableListableBeanFactory beans,
        CreatedBeans created,
        LimitedMethodResolver methods,
        RateLimitBeanPostProcessor processor,
        LimitCatalog catalog,
        ProcessedMethods processed) {

    /** Looked up by name, so that Quartz is no dependency. */
    private static final String JOB_DETAIL = "org.quartz.JobDetail";

    /**
     * Validates all beans.
     *
     * @return the methods of each limit, by the limit's name, and what a call of each is charged
     * @throws RateLimitConfigurationException if a limited method is not intercepted or its limits are invalid
     */
    public Map<String, Map<String, ChargeDescription>> check() {
        // First find all, so that every annotation has declared its limit before a pointcut refers to one.
        List<BeanMethod> all = find(beans, methods, this::typeOf, this::isMock);
        all.forEach(this::checkCallback);
        for (Class<?> job : jobs()) {
            methods.of(job).forEach(method -> all.add(new BeanMethod(job.getName(), job, method)));
        }
        checkFactories();
        checkProcessed(all);
        checkMatches(all);
        Map<String, Map<String, ChargeDescription>> limits = new TreeMap<>();
        for (BeanMethod found : all) {
            if (isMock(found.bean())) {
                continue;
            }
            LimitedMethod limited = found.method().limited();
            checkAdvised(found.bean(), found.method());
            new EventLoopHandlers(beans).check(limited, found.type());
            limited.descriptions()
                    .forEach((limit, charge) -> limits.computeIfAbsent(limit, name -> new TreeMap<>())
                            .put(MethodSignatures.describe(limited.method()), charge));
        }
        return limits;
    }

    /** Finds the limited methods of all beans. */
    static List<BeanMethod> find(
            ListableBeanFactory beans,
            LimitedMethodResolver methods,
            Function<String, @Nullable Class<?>> types,
            Predicate<String> mocks) {
        List<BeanMethod> all = new ArrayList<>();
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = types.apply(name);
            if (type != null && !AopInfrastructureBean.class.isAssignableFrom(type)) {
                methodsOf(type, methods, mocks.test(name))
                        .forEach(method -> all.add(new BeanMethod(name, type, method)));
            }
        }
        return all;
    }

    /** Returns the classes of Quartz jobs, which have no bean definition: Spring creates and advises an instance for each run. */
    private List<Class<?>> jobs() {
        ClassLoader loader = beans.getBeanClassLoader();
        if (!ClassUtils.isPresent(JOB_DETAIL, loader)) {
            return List.of();
        }
        Class<?> detail = ClassUtils.resolveClassName(JOB_DETAIL, loader);
        return beans.getBeansOfType(detail, false, false).values().stream()
                .map(each -> PropertyAccessorFactory.forBeanPropertyAccess(each).getPropertyValue("jobClass"))
                .<Class<?>>map(type -> (Class<?>) Objects.requireNonNull(type))
                .toList();
    }

    /** @throws RateLimitConfigurationException if an annotated method is the init or destroy method of its bean's definition */
    private void checkCallback(BeanMethod found) {
        BeanDefinition definition = beans.getMergedBeanDefinition(found.bean());
        Method method = found.method().method();
        if (method.getParameterCount() == 0
                && (method.getName().equals(definition.getInitMethodName())
                        || method.getName().equals(definition.getDestroyMethodName()))
                && MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(RateLimited.class)) {
            throw Advisability.misplaced("@RateLimited", method, FrameworkCall.PAST_PROXY);
        }
    }

    /** @throws RateLimitConfigurationException if a factory of a bean is annotated, and has no method that others call */
    private void checkFactories() {
        for (String name : beans.getBeanDefinitionNames()) {
            if (beans.isFactoryBean(name)) {
                Class<?> createdType = created.typeOf(name);
                Class<?> type = createdType == null
                        ? beans.getType(BeanFactory.FACTORY_BEAN_PREFIX + name, false)
                        : createdType;
                if (type != null) {
                    var unused = methods.of(type);
                }
            }
        }
    }

    /** @throws RateLimitConfigurationException if a method is missing that AOT processing has found */
    private void checkProcessed(List<BeanMethod> all) {
        Set<String> found = all.stream().map(BeanMethod::signature).collect(Collectors.toSet());
        for (String signature : processed.signatures()) {
            String bean = signature.substring(0, signature.indexOf(':'));
            if (created.typeOf(bean) != null && !found.contains(signature)) {
                throw new RateLimitConfigurationException(
                        "@RateLimited of the bean '" + bean
                                + "' must be found at start-up, as when the application was built (was missing at "
                                + signature.substring(bean.length() + 1) + ").",
                        "Register reflection hints for the classes and interfaces of the bean, or declare its class as the"
                                + " return type of its @Bean method.");
            }
        }
    }

    /** Also declares the limits of a mock, because other beans and the configuration may refer to them. */
    private static List<MatchedMethod> methodsOf(Class<?> type, LimitedMethodResolver methods, boolean mock) {
        try {
            return methods.of(type);
        } catch (RateLimitConfigurationException ex) {
            if (mock) {
                return List.of();
            }
            throw ex;
        }
    }

    /** Returns whether a test has replaced a bean by a singleton of its own, which no post-processor has seen. */
    private boolean isMock(String name) {
        return created.typeOf(name) == null && beans.containsSingleton(name) && !beans.isFactoryBean(name);
    }

    /** @throws RateLimitConfigurationException if a pointcut matches nothing, or only methods that frameworks call past a proxy */
    private void checkMatches(List<BeanMethod> all) {
        for (LimitPointcut pointcut : methods.pointcuts().all()) {
            List<BeanMethod> matched = all.stream()
                    .filter(found -> found.method().pointcuts().contains(pointcut))
                    .toList();
            if (matched.stream().anyMatch(found -> found.callback() == null)) {
                catalog.setApplied(pointcut.property());
            } else if (!catalog.mayBeAppliedElsewhere(pointcut.property())) {
                throw matched.isEmpty()
                        ? new RateLimitConfigurationException(
                                pointcut.property() + " matches no public method of any bean.",
                                "Check packages, names and parameters. Methods that are not public do not count, nor do"
                                        + " beans whose type is not known at start-up, configuration classes, aspects"
                                        + " and post-processors.")
                        : Advisability.misplaced(
                                pointcut.property(),
                                matched.get(0).method().method(),
                                Objects.requireNonNull(matched.get(0).callback()));
            }
        }
    }

    /** A limited method of a bean. */
    record BeanMethod(String bean, Class<?> type, MatchedMethod method) {

        /** Returns how a framework calls the method past the proxy; {@code null}: callers go through it. */
        @Nullable
        FrameworkCall callback() {
            FrameworkCall call = FrameworkCall.of(method.method(), type);
            return call != null && call.isLeftOut() ? call : null;
        }

        /** Identifies the method at build time and at start-up, when the bean may have a more specific type. */
        String signature() {
            return bean + ":" + method.method().getName()
                    + Arrays.stream(method.method().getParameterTypes())
                            .map(Class::getName)
                            .collect(Collectors.joining(",", "(", ")"));
        }
    }

    private @Nullable Class<?> typeOf(String name) {
        Class<?> createdType = created.typeOf(name);
        if (createdType != null && !FactoryBean.class.isAssignableFrom(createdType)) {
            return createdType;
        }
        if (ScopedProxyUtils.isScopedTarget(name)) {
            return beans.getType(name, false);
        }
        return AutoProxyUtils.determineTargetClass(beans, name);
    }

    private void checkAdvised(String name, MatchedMethod limited) {
        if (created.typeOf(name) == null || beans.isFactoryBean(name)) {
            return;
        }
        Method method = limited.method();
        if (!processor.hasAdvised(name)) {
            throw new RateLimitConfigurationException(
                            limited.limitedBy() + " must apply to a bean that the starter can proxy (was '" + name
                                    + "'): it was created before beans are proxied, or another BeanPostProcessor has"
                                    + " wrapped it.",
                            "Let no BeanPostProcessor depend on it, or take it by ObjectProvider; let one that wraps it"
                                    + " have a later order.")
                    .at(MethodSignatures.describe(method));
        }
        Object bean = beans.getSingleton(name);
        if (bean == null) {
            return;
        }
        // The method that binds a service of gRPC runs on the target of such a proxy.
        if (AopUtils.isJdkDynamicProxy(bean)
                && (ClassUtils.hasMethod(bean.getClass(), "bindService")
                        || !RateLimitAnnotations.isDeclaredBy(
                                bean.getClass(), method, AopProxyUtils.ultimateTargetClass(bean)))) {
            throw new RateLimitConfigurationException(
                            limited.limitedBy() + " must apply to a method of an interface, because the bean '" + name
                                    + "' is proxied by its interfaces.",
                            "Declare the method in an interface; or, if the class is not final, set"
                                    + " spring.aop.proxy-target-class=true.")
                    .at(MethodSignatures.describe(method));
        }
    }
}
