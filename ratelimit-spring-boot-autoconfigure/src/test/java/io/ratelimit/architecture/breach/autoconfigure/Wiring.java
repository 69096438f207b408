package io.ratelimit.architecture.breach.autoconfigure;

/** No class may depend on it. */
public class Wiring {

    int beans = 1;
}
