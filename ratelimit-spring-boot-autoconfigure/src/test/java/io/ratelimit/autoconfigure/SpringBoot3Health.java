package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.actuate.RateLimitHealthAutoConfiguration;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ReflectionUtils;

/** An application that asks for its health in the types of Spring Boot 3, which are called by their names. */
public final class SpringBoot3Health {

    private static final String PACKAGE = "org.springframework.boot.actuate.health.";

    private SpringBoot3Health() {}

    /** The contributors' names, and what the one says before Redis fails and while it does, with details and without. */
    public static Map<String, Object> run(String... properties) {
        FailingScriptExecutor redis = new FailingScriptExecutor();
        Map<String, Object> seen = new LinkedHashMap<>();
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitHealthAutoConfiguration.class))
                .withBean(Contributors.class)
                .withBean(RateLimitScriptExecutor.class, () -> redis)
                .withPropertyValues("ratelimit.limits.quotes.rate=1/h")
                .withPropertyValues(properties)
                .run(context -> {
                    List<String> names = context.getBean(Contributors.class).names;
                    seen.put("contributors", names);
                    for (Object indicator :
                            context.getBeansOfType(type("HealthIndicator")).values()) {
                        seen.put("equal", List.of("another", indicator).indexOf(indicator) == 1);
                        seen.put("healthy", described(invoke(indicator, "health")));
                        redis.fail();
                        context.getBean(RateLimiterRegistry.class).get("quotes").tryAcquire("alice");
                        seen.put("failing", described(invoke(indicator, "health")));
                        seen.put("without details", described(invoke(indicator, "getHealth", false)));
                    }
                });
        return seen;
    }

    private static Map<String, Object> described(Object health) {
        return Map.of(
                "status", invoke(invoke(health, "getStatus"), "getCode"), "details", invoke(health, "getDetails"));
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(PACKAGE + name);
        } catch (ClassNotFoundException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static Object invoke(Object target, String method, Object... arguments) {
        return Stream.of(ReflectionUtils.getAllDeclaredMethods(target.getClass()))
                .filter(candidate ->
                        candidate.getName().equals(method) && candidate.getParameterCount() == arguments.length)
                .map(found -> ReflectionUtils.invokeMethod(found, target, arguments))
                .findFirst()
                .orElseThrow();
    }

    /** Created before the contributors are, as the registry may be: types alone can tell. */
    static class Contributors {

        private final List<String> names;

        @SuppressWarnings("unchecked")
        Contributors(ListableBeanFactory beans) throws ReflectiveOperationException {
            Function<String, String> naming = (Function<String, String>)
                    type("HealthContributorNameFactory").getField("INSTANCE").get(null);
            names = Stream.of(beans.getBeanNamesForType(type("HealthContributor")))
                    .map(naming)
                    .toList();
        }
    }
}
