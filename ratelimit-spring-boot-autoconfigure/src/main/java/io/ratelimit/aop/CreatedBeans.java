package io.ratelimit.aop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Sees every bean that the container creates, those that are created too early to be advised included, and sees it before
 * another post-processor can wrap it. What was put into the container ready-made, as a test does with a mock, it never
 * sees.
 */
public final class CreatedBeans implements BeanFactoryPostProcessor {

    private final Map<String, Class<?>> types = new ConcurrentHashMap<>();

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        beans.addBeanPostProcessor(new BeanPostProcessor() {
            @Override
            public Object postProcessBeforeInitialization(Object bean, String beanName) {
                if (beans.containsBeanDefinition(beanName)) {
                    types.put(beanName, ClassUtils.getUserClass(bean));
                }
                return bean;
            }
        });
    }

    /** The class of a bean; {@code null}: the container has not created it. */
    @Nullable
    Class<?> typeOf(String name) {
        return types.get(name);
    }
}
