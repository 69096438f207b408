package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.MethodSignatures;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.util.ClassUtils;

/**
 * Advises beans with limited methods. Does not use the auto-proxy creator, so that it is independent of the application's
 * proxy settings. Runs after post-processors that wrap beans, and before those that register them elsewhere.
 *
 * @see RateLimitAdvicePlacer
 */
@SuppressWarnings("serial")
public final class RateLimitBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private final LimitedMethodResolver methods;

    private final DefaultPointcutAdvisor limiting;

    /** The names of advised beans. */
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    /** @param adviceOrder the order relative to other advice of a bean, including {@code @Async} */
    public RateLimitBeanPostProcessor(
            LimitedMethodResolver methods, RateLimitInterceptor interceptor, int adviceOrder) {
        this.methods = methods;
        MethodMatcher limited = new StaticMethodMatcher() {
            @Override
            public boolean matches(Method method, Class<?> targetClass) {
                return methods.find(method, targetClass) != null;
            }
        };
        this.limiting = new DefaultPointcutAdvisor(new ComposablePointcut(methods::mayBeIn, limited), interceptor);
        this.limiting.setOrder(adviceOrder);
        this.advisor = limiting;
        setBeforeExistingAdvisors(true);
        // Before post-processors that register the bean as a message listener.
        setOrder(LOWEST_PRECEDENCE - 1);
    }

    /** Leaves out proxies of other beans, such as of a bean in a scope: those are advised themselves. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof AopInfrastructureBean) {
            return bean;
        }
        Object advised = isAdvised(bean)
                ? bean
                : hasMoreInterfacesThanTarget(bean)
                        ? wrap(bean, beanName)
                        : super.postProcessAfterInitialization(bean, beanName);
        if (isAdvised(advised)) {
            names.add(beanName);
        }
        return advised;
    }

    private static boolean isAdvised(Object bean) {
        return bean instanceof Advised proxy && RateLimitInterceptor.isIn(proxy);
    }

    /** Returns whether a proxy has interfaces that its target does not implement, so that the pointcut must match the proxy. */
    private static boolean hasMoreInterfacesThanTarget(Object bean) {
        if (!(bean instanceof Advised existing)) {
            return false;
        }
        Class<?> target = existing.getTargetSource() instanceof EmptyTargetSource ? null : existing.getTargetClass();
        return target == null
                || (Proxy.isProxyClass(bean.getClass())
                        && Arrays.stream(existing.getProxiedInterfaces())
                                .anyMatch(type -> type.getMethods().length > 0 && !type.isAssignableFrom(target)));
    }

    private Object wrap(Object bean, String beanName) {
        if (!isEligible(bean, beanName)) {
            return bean;
        }
        ProxyFactory factory = prepareProxyFactory(bean, beanName);
        evaluateProxyInterfaces(bean.getClass(), factory);
        factory.addAdvisor(limiting);
        return factory.getProxy(getProxyClassLoader());
    }

    @Override
    protected ProxyFactory prepareProxyFactory(Object bean, String beanName) {
        ProxyFactory factory = super.prepareProxyFactory(bean, beanName);
        factory.setAdvisorChainFactory(RateLimitBeanPostProcessor::adviceOf);
        Class<?> type = bean.getClass();
        if (Modifier.isFinal(type.getModifiers())) {
            // A final class, such as that of a lambda, can be proxied only by its interfaces.
            if (ClassUtils.getAllInterfacesForClass(type).length == 0) {
                MatchedMethod found = methods.of(type).get(0);
                throw new RateLimitConfigurationException(
                                found.limitedBy()
                                        + " must apply to a class that can be proxied (was final, without an interface).",
                                "Make the class non-final, or declare the method in an interface."
                                        + MethodSignatures.howToOpen(type))
                        .at(MethodSignatures.describe(found.method()));
            }
            factory.setProxyTargetClass(false);
        }
        return factory;
    }

    /** Finds the limits of a method when Spring looks for its advice, which is before or at its first call and not at each. */
    private static List<Object> adviceOf(Advised proxy, Method method, @Nullable Class<?> targetClass) {
        Class<?> type = targetClass != null ? targetClass : method.getDeclaringClass();
        return DefaultAdvisorChainFactory.INSTANCE
                .getInterceptorsAndDynamicInterceptionAdvice(proxy, method, targetClass)
                .stream()
                .map(advice -> advice instanceof RateLimitInterceptor limiter ? limiter.of(method, type) : advice)
                .toList();
    }

    DefaultPointcutAdvisor limiting() {
        return limiting;
    }

    boolean hasAdvised(String beanName) {
        return names.contains(beanName);
    }
}
