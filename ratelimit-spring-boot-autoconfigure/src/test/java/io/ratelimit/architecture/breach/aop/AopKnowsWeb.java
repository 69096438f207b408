package io.ratelimit.architecture.breach.aop;

import io.ratelimit.architecture.breach.web.WebKnowsAutoconfigure;

/** The advice knows no way in. */
public class AopKnowsWeb {

    Object known = new WebKnowsAutoconfigure();
}
