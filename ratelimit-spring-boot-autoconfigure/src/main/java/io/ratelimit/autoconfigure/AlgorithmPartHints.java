package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitAlgorithm;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Adds the Lua parts beside the classes of an application's algorithms to a native image. */
final class AlgorithmPartHints implements BeanFactoryInitializationAotProcessor {

    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beans) {
        List<String> parts = new ArrayList<>();
        for (String name : beans.getBeanNamesForType(RateLimitAlgorithm.class, true, false)) {
            Class<?> type = beans.getType(name, false);
            if (type != null) {
                parts.add(part(type));
            }
        }
        return parts.isEmpty()
                ? null
                : (context, code) -> parts.forEach(context.getRuntimeHints().resources()::registerPattern);
    }

    private static String part(Class<?> type) {
        Class<?> algorithm = ClassUtils.getUserClass(type);
        return algorithm.getPackageName().replace('.', '/') + "/" + algorithm.getSimpleName() + ".lua";
    }
}
