package io.ratelimit.architecture.breach.web;

import io.ratelimit.architecture.breach.autoconfigure.Wiring;

/** No package may depend on the wiring. */
public class WebKnowsAutoconfigure {

    Object known = new Wiring();
}
