package io.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Turns rate limits off in a test. On a class, as {@code ratelimit.enabled=false} does: the test has an application context
 * without limits. If both are inherited or from enclosing classes, the nearer one of this annotation and
 * {@link AutoConfigureRateLimits} applies.
 *
 * <p>On a method of a class with {@link AutoConfigureRateLimits}, every limit allows every call and takes no permits, while
 * the application context stays the same: expressions are evaluated, and response headers are written.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ImportAutoConfiguration
public @interface DisableRateLimits {}
