package io.ratelimit.architecture.breach.autoconfigure;

/** What nobody may know. */
public class Wiring {

    int beans = 1;
}
