package io.ratelimit.autoconfigure;

import io.ratelimit.aop.RateLimitAnnotations;
import io.ratelimit.autoconfigure.properties.OnRateLimitsEnabled;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.util.ClassUtils;

/**
 * Warns of annotated beans in a context without {@link RateLimitAutoConfiguration}, such as a test slice, and if the application
 * excludes it. Spring Boot starts it by name in every context, because a slice leaves auto-configurations out. Other contexts
 * pay one look-up.
 */
final class UnlimitedContextWarning
        implements ApplicationContextInitializer<ConfigurableApplicationContext>,
                ApplicationListener<ContextRefreshedEvent> {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        context.addBeanFactoryPostProcessor(beans -> {
            boolean unlimited = isUnlimited(beans, context);
            if (!isExcluded(beans)) {
                context.addApplicationListener(this);
                if (unlimited) {
                    beans.addBeanPostProcessor(new AnnotatedBeanWarning(beans));
                }
            } else if (unlimited) {
                logger.log(
                        Level.WARNING,
                        "Rate limits are off: RateLimitAutoConfiguration is excluded. Remove the exclusion, or set"
                                + " ratelimit.enabled=false instead of it");
            }
        });
    }

    /** Looks at the beans of a child that Spring Boot does not initialize, such as the context of another servlet. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        ApplicationContext context = event.getApplicationContext();
        if (context.getAutowireCapableBeanFactory() instanceof DefaultListableBeanFactory beans
                && isUnlimited(beans, context)
                && !isExcluded(beans)
                && beans.getBeanPostProcessors().stream().noneMatch(AnnotatedBeanWarning.class::isInstance)) {
            AnnotatedBeanWarning warning = new AnnotatedBeanWarning(beans);
            beans.addBeanPostProcessor(warning);
            Stream.of(beans.getBeanDefinitionNames())
                    .map(name -> type(beans, name))
                    .filter(Objects::nonNull)
                    .forEach(warning::look);
        }
    }

    /** Returns the type of a bean; {@code null}: it cannot be loaded, as may be that of a lazy bean, whose use fails. */
    private static @Nullable Class<?> type(BeanFactory beans, String name) {
        try {
            return beans.getType(name, false);
        } catch (BeansException | LinkageError ex) {
            return null;
        }
    }

    private static boolean isUnlimited(ConfigurableListableBeanFactory beans, ApplicationContext context) {
        return !beans.containsBeanDefinition(RateLimitAutoConfiguration.VALIDATOR)
                && OnRateLimitsEnabled.isEnabled(context.getEnvironment());
    }

    private static boolean isExcluded(ConfigurableListableBeanFactory beans) {
        return ConditionEvaluationReport.get(beans)
                .getExclusions()
                .contains(RateLimitAutoConfiguration.class.getName());
    }

    /** Sees the beans that the container creates, not the mocks of a test. */
    private static final class AnnotatedBeanWarning implements BeanPostProcessor {

        private final ConfigurableListableBeanFactory beans;

        private volatile boolean warned;

        AnnotatedBeanWarning(ConfigurableListableBeanFactory beans) {
            this.beans = beans;
        }

        @Override
        public Object postProcessBeforeInitialization(Object bean, String beanName) {
            // A bean without a definition is the test itself, or another object that is injected.
            if (beans.containsBeanDefinition(beanName)) {
                look(bean.getClass());
            }
            return bean;
        }

        void look(Class<?> beanType) {
            Class<?> type = ClassUtils.getUserClass(beanType);
            if (!warned && !isOfSpring(type.getName()) && RateLimitAnnotations.areIn(type)) {
                warned = true;
                logger.log(
                        Level.WARNING,
                        "Rate limits are off in this application context (RateLimitAutoConfiguration is not"
                                + " part of it); @RateLimited has no effect on " + type.getName()
                                + " and other beans. In a test slice, add @AutoConfigureRateLimits or"
                                + " @DisableRateLimits of ratelimit-spring-boot-test; elsewhere, import"
                                + " RateLimitAutoConfiguration");
            }
        }

        /** Petclinic is an application in a package of Spring. */
        private static boolean isOfSpring(String name) {
            return name.startsWith("org.springframework.") && !name.startsWith("org.springframework.samples.");
        }
    }
}
