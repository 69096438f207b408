package io.ratelimit.architecture.breach.annotation;

import org.springframework.core.Ordered;

/** Annotations know AliasFor, and nothing else of Spring. */
public class AnnotationKnowsSpring {

    Class<?> known = Ordered.class;
}
