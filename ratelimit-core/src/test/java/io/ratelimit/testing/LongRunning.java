package io.ratelimit.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Runs with {@code scripts/verify-long.sh} and not with each build: what breaks servers, checks models, starts processes, clusters or
 * many applications, measures, or repeats what a faster test shows, such as in a browser, on the other web stack or asynchronously.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Tag("long")
public @interface LongRunning {}
