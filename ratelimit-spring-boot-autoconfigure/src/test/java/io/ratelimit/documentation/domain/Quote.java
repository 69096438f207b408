package io.ratelimit.documentation.domain;

/** What the methods of the documentation return. */
public record Quote(String text) {}
