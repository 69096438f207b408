package io.ratelimit.architecture.breach.web.reactive;

import io.ratelimit.architecture.breach.web.servlet.ServletKnowsReactive;

/** An arrow that must not be. */
public class ReactiveKnowsServlet {

    ServletKnowsReactive known;
}
