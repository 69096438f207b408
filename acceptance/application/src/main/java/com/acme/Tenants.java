package com.acme;

import org.springframework.stereotype.Component;

/** Called by an expression only. */
@Component
public class Tenants {

    /** Returns what precedes the dash. */
    public String of(String key) {
        return key.substring(0, key.indexOf('-'));
    }
}
