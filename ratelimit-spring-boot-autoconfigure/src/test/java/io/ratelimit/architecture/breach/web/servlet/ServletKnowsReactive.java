package io.ratelimit.architecture.breach.web.servlet;

import io.ratelimit.architecture.breach.web.reactive.ReactiveKnowsServlet;

/** An arrow that must not be. */
public class ServletKnowsReactive {

    ReactiveKnowsServlet known;
}
