package io.ratelimit.architecture.breach;

import org.springframework.core.AttributeAccessorSupport;

/** The root package knows the JDK only. */
public class RootKnowsSpring {

    Class<?> known = AttributeAccessorSupport.class;
}
