package io.ratelimit.aop;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Records the class of every bean that the container creates, before other post-processors wrap the bean. Includes beans that
 * are created too early to be advised, also post-processors of the bean factory, and excludes registered singletons such as mocks
 * of a test.
 */
public final class CreatedBeans implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {

    private final Map<String, Class<?>> types = new ConcurrentHashMap<>();

    private final String[] declaring;

    /** @param declaring the names of the beans by which the post-processors of the starter declare limits */
    public CreatedBeans(String... declaring) {
        this.declaring = declaring;
    }

    /** Before other post-processors of the bean factory, which may create beans. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (registry instanceof ConfigurableListableBeanFactory beans) {
            addRecorder(beans);
        }
    }

    private void addRecorder(ConfigurableListableBeanFactory beans) {
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

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        for (String name : beans.getBeanNamesForType(BeanFactoryPostProcessor.class, true, false)) {
            types.put(name, ClassUtils.getUserClass(Objects.requireNonNull(beans.getType(name, false))));
        }
        for (String name : beans.getBeanDefinitionNames()) {
            if (beans.getBeanDefinition(name) instanceof AbstractBeanDefinition definition
                    && definition.isBackgroundInit()) {
                declareBefore(definition, beans.getType(name, false));
            }
        }
    }

    /** Spring creates no bean for one that is created in the background. */
    private void declareBefore(AbstractBeanDefinition definition, @Nullable Class<?> type) {
        if (type != null && RateLimitAnnotations.areIn(type)) {
            definition.setDependsOn(StringUtils.concatenateStringArrays(definition.getDependsOn(), declaring));
        }
    }

    /** Returns the class of a bean, or {@code null} if the container has not created it. */
    @Nullable
    Class<?> typeOf(String name) {
        return types.get(name);
    }
}
