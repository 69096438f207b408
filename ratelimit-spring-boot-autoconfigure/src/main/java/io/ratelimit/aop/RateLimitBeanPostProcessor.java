package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.MethodSignatures;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.util.ClassUtils;

/**
 * Advises beans that have limited methods. Works by itself rather than through the auto-proxy creator, and so applies
 * whatever the application makes of that. Runs after what else wraps beans, and before what hands them on.
 *
 * @see RateLimitAdvicePlacer
 */
@SuppressWarnings("serial")
public final class RateLimitBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private final LimitedMethods methods;

    private final DefaultPointcutAdvisor limiting;

    /** Of the beans that have the advice. */
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    /** @param adviceOrder against a bean's other advice, {@code @Async} included; lower is earlier */
    public RateLimitBeanPostProcessor(LimitedMethods methods, RateLimitInterceptor interceptor, int adviceOrder) {
        this.methods = methods;
        this.limiting = new DefaultPointcutAdvisor(new LimitedMethodPointcut(methods), interceptor);
        this.limiting.setOrder(adviceOrder);
        this.advisor = limiting;
        setBeforeExistingAdvisors(true);
        // Before those that take the bean as it is, to hand it messages.
        setOrder(LOWEST_PRECEDENCE - 1);
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Object advised =
                isMoreThanItsTarget(bean) ? wrap(bean, beanName) : super.postProcessAfterInitialization(bean, beanName);
        if (advised instanceof Advised proxy && proxy.indexOf(limiting) >= 0) {
            names.add(beanName);
        }
        return advised;
    }

    /** Interfaces that advice alone answers: what the proxy would ask our pointcut about does not have their methods. */
    private static boolean isMoreThanItsTarget(Object bean) {
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
        Class<?> type = bean.getClass();
        if (Modifier.isFinal(type.getModifiers())) {
            // A final class can only be proxied by its interfaces, as a lambda or a JDK proxy is anyway.
            if (ClassUtils.getAllInterfacesForClass(type).length == 0) {
                FoundMethod found = methods.of(type).get(0);
                throw new RateLimitConfigurationException(
                                found.limitedBy()
                                        + " has no effect on the methods of a final class without an interface.",
                                "Make the class non-final, or declare the method in an interface."
                                        + MethodSignatures.howToOpen(type))
                        .at(MethodSignatures.describe(found.method()));
            }
            factory.setProxyTargetClass(false);
        }
        return factory;
    }

    DefaultPointcutAdvisor limiting() {
        return limiting;
    }

    boolean hasAdvised(String beanName) {
        return names.contains(beanName);
    }
}
