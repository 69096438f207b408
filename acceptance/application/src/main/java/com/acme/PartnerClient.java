package com.acme;

import org.springframework.stereotype.Component;

/** Limited by a pointcut in limits.yml. */
@Component
public class PartnerClient {

    public String call(String key) {
        return "pointcut";
    }
}
