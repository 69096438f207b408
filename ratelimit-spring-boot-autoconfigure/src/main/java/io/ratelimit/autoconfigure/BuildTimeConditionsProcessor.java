package io.ratelimit.autoconfigure;

import javax.lang.model.element.Modifier;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.generate.GeneratedMethod;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/** Lets an AOT-processed application check at start-up that its {@link BuildTimeConditions} still hold. */
final class BuildTimeConditionsProcessor implements BeanFactoryInitializationAotProcessor {

    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beans) {
        if (beans.getBeanNamesForType(RateLimitPropertiesValidator.class, true, false).length == 0) {
            return null;
        }
        BuildTimeConditions now = BuildTimeConditions.of(beans.getBean(Environment.class));
        return (context, code) -> {
            GeneratedMethod check = code.getMethods()
                    .add(
                            "checkRateLimitConditions",
                            method -> method.addModifiers(Modifier.PRIVATE)
                                    .addParameter(Environment.class, "environment")
                                    .addStatement(
                                            "new $T($L, $S).check(environment)",
                                            BuildTimeConditions.class,
                                            now.enabled(),
                                            now.store()));
            code.addInitializer(check.toMethodReference());
        };
    }
}
