package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitAlgorithm;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
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
        List<String> parts = Arrays.stream(beans.getBeanNamesForType(RateLimitAlgorithm.class, true, false))
                .map(name -> beans.getType(name, false))
                .filter(Objects::nonNull)
                .map(AlgorithmPartHints::part)
                .toList();
        return parts.isEmpty()
                ? null
                : (context, code) -> parts.forEach(context.getRuntimeHints().resources()::registerPattern);
    }

    private static String part(Class<?> type) {
        Class<?> algorithm = ClassUtils.getUserClass(type);
        return algorithm.getPackageName().replace('.', '/') + "/" + algorithm.getSimpleName() + ".lua";
    }
}
