package io.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Turns rate limits on in a test slice such as {@code @WebMvcTest} or {@code @WebFluxTest}, or in a {@code @SpringBootTest}.
 * Limits are counted in memory, without Redis, also if the application sets {@code ratelimit.store=redis} or
 * {@code ratelimit.enabled=false}. The time stands still: a {@link MutableTimeSource} bean is the clock, and a call that has
 * to wait moves the clock instead.
 *
 * <p>Before each test method, all buckets are full again, and the clock is at its start. Test methods that share an
 * application context must not run in parallel.
 *
 * <p>Limits of beans that the test replaces by mocks, or that a slice leaves out, are neither applied nor checked.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ImportAutoConfiguration
public @interface AutoConfigureRateLimits {}
