package io.ratelimit.test.context;

import java.util.List;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.support.TestPropertySourceUtils;

/** Sets properties, which change limits alone. Contexts with the same properties are the same in the cache of contexts. */
record RateLimitsContextCustomizer(List<String> properties) implements ContextCustomizer {

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
        TestPropertySourceUtils.addInlinedPropertiesToEnvironment(context, properties.toArray(String[]::new));
    }
}
