package io.ratelimit.documentation.domain;

/** A bean that expressions of the documentation call. */
public class Secrets {

    public String hash(String secret) {
        return Integer.toHexString(secret.hashCode());
    }
}
