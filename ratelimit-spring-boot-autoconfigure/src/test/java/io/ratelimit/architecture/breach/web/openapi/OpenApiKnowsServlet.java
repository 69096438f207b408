package io.ratelimit.architecture.breach.web.openapi;

import io.ratelimit.architecture.breach.web.servlet.ServletKnowsReactive;

/** An arrow that must not be. */
public class OpenApiKnowsServlet {

    ServletKnowsReactive known;
}
