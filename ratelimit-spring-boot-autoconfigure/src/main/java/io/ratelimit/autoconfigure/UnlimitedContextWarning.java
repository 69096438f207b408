package io.ratelimit.autoconfigure;

import io.ratelimit.aop.RateLimitAnnotations;
import io.ratelimit.autoconfigure.properties.OnRateLimitsEnabled;
import java.lang.System.Logger.Level;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/**
 * Warns of annotated beans in a context without {@link RateLimitAutoConfiguration}, such as a test slice, and if the application
 * excludes it. Spring Boot starts it by name in every context, because a slice leaves auto-configurations out. Other contexts
 * pay one look-up.
 */
final class UnlimitedContextWarning implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        context.addBeanFactoryPostProcessor(beans -> {
            if (!beans.containsBeanDefinition(RateLimitAutoConfiguration.VALIDATOR)
                    && OnRateLimitsEnabled.isEnabled(context.getEnvironment())) {
                if (isExcluded(beans)) {
                    logger.log(
                            Level.WARNING,
                            "Rate limits are off: RateLimitAutoConfiguration is excluded. Remove the exclusion, or set"
                                    + " ratelimit.enabled=false instead of it");
                } else {
                    beans.addBeanPostProcessor(new AnnotatedBeanWarning(beans));
                }
            }
        });
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
            if (!warned && beans.containsBeanDefinition(beanName)) {
                Class<?> type = ClassUtils.getUserClass(bean);
                if (!isOfSpring(type.getName()) && RateLimitAnnotations.areIn(type)) {
                    warned = true;
                    logger.log(
                            Level.WARNING,
                            "Rate limits are off in this application context (RateLimitAutoConfiguration is not"
                                    + " part of it); @RateLimited has no effect on " + type.getName()
                                    + " and other beans. In a test slice, add @AutoConfigureRateLimits or"
                                    + " @DisableRateLimits of ratelimit-spring-boot-test");
                }
            }
            return bean;
        }

        /** Petclinic is an application in a package of Spring. */
        private static boolean isOfSpring(String name) {
            return name.startsWith("org.springframework.") && !name.startsWith("org.springframework.samples.");
        }
    }
}
