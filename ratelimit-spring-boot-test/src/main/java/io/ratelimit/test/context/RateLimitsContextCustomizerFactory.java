package io.ratelimit.test.context;

import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import java.lang.annotation.Annotation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestContextAnnotationUtils.AnnotationDescriptor;

/** Sets the properties that the annotations of a test class ask for. */
final class RateLimitsContextCustomizerFactory implements ContextCustomizerFactory {

    /** By name, because the compiler would need JUnit to read it. */
    private static final String FULL_CONTEXT = "org.springframework.boot.test.context.SpringBootTest";

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configuration) {
        Class<?> disabling = declaring(testClass, DisableRateLimits.class);
        Class<?> enabling = declaring(testClass, AutoConfigureRateLimits.class);
        if (disabling != null && (enabling == null || !isNearer(enabling, disabling))) {
            return new RateLimitsContextCustomizer(List.of("ratelimit.enabled=false"));
        }
        if (enabling == null) {
            return null;
        }
        // Other tests, such as slices, have only some of the beans that the configuration is for.
        boolean full = MergedAnnotations.search(SearchStrategy.TYPE_HIERARCHY)
                .withEnclosingClasses(type -> true)
                .from(testClass)
                .isPresent(FULL_CONTEXT);
        return new RateLimitsContextCustomizer(
                List.of("ratelimit.enabled=true", "ratelimit.store=in-memory", "ratelimit.partial-context=" + !full));
    }

    private static @Nullable Class<?> declaring(Class<?> testClass, Class<? extends Annotation> type) {
        AnnotationDescriptor<?> descriptor = TestContextAnnotationUtils.findAnnotationDescriptor(testClass, type);
        return descriptor == null ? null : descriptor.getRootDeclaringClass();
    }

    /** Returns whether the class is a subclass of the other one, or is nested in it. */
    private static boolean isNearer(Class<?> type, Class<?> other) {
        if (type == other) {
            return false;
        }
        for (Class<?> enclosing = type; enclosing != null; enclosing = enclosing.getEnclosingClass()) {
            if (other.isAssignableFrom(enclosing)) {
                return true;
            }
        }
        return false;
    }
}
