package io.ratelimit.architecture.breach.web.client;

import io.ratelimit.architecture.breach.annotation.AnnotationKnowsSpring;

/** An arrow that must not be. */
public class ClientKnowsAnnotation {

    AnnotationKnowsSpring known;
}
