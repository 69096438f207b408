package io.ratelimit.architecture.breach.web;

import io.ratelimit.architecture.breach.autoconfigure.Wiring;

/** Nobody knows the wiring. */
public class WebKnowsAutoconfigure {

    Object known = new Wiring();
}
