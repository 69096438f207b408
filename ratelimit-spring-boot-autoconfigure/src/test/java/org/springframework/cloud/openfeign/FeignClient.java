package org.springframework.cloud.openfeign;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What the starter reads of the annotation of Spring Cloud OpenFeign, whose auto-configurations would be those of every test. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface FeignClient {

    Class<?> fallback() default void.class;

    Class<?> fallbackFactory() default void.class;
}
