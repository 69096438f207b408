package io.ratelimit.actuate;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Serves {@code /actuator/health/ratelimit} in Spring Boot 3. Uses its types by reflection, because Spring Boot 4 has moved
 * them, and the code cannot be compiled with both.
 */
public record SpringBoot3HealthIndicator(Supplier<RateLimitHealth> health, Class<?> builder)
        implements InvocationHandler {

    /** The interface that {@link #of} implements. */
    public static final String TYPE = "org.springframework.boot.actuate.health.HealthIndicator";

    /** Creates what the indicator returns. */
    public static final String BUILDER = "org.springframework.boot.actuate.health.Health$Builder";

    /** Creates a {@code HealthIndicator} in the class loader. */
    public static Object of(Supplier<RateLimitHealth> health, ClassLoader loader) {
        return Proxy.newProxyInstance(
                loader,
                new Class<?>[] {ClassUtils.resolveClassName(TYPE, loader)},
                new SpringBoot3HealthIndicator(health, ClassUtils.resolveClassName(BUILDER, loader)));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
        }
        return switch (method.getName()) {
            case "health" -> read();
            case "equals" -> arguments != null && proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> getClass().getSimpleName();
        };
    }

    private Object read() throws ReflectiveOperationException {
        RateLimitHealth now = health.get();
        Object filled = builder.getConstructor().newInstance();
        builder.getMethod("status", String.class).invoke(filled, now.status());
        builder.getMethod("withDetails", Map.class).invoke(filled, now.details());
        return builder.getMethod("build").invoke(filled);
    }
}
