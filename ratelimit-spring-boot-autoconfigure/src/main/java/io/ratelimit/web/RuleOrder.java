package io.ratelimit.web;

/** When a URL rule is applied: each of both has a filter. */
public enum RuleOrder {

    /** Cheaper than checking a password, but no user is known. */
    BEFORE_SECURITY,

    /** Once Spring Security has authenticated the user, or has let the request pass without one. */
    AFTER_SECURITY
}
