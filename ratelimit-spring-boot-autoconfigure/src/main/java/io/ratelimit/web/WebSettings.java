package io.ratelimit.web;

/** What requests and responses of both kinds have in common: which fields are sent, who a caller is, and who is none. */
public final class WebSettings {

    private final ResponseFields fields;

    private final ClientAddress addresses;

    private final MissingKeys missingKeys;

    /**
     * @param ipv6Prefix how many bits of an IPv6 address are the caller's network, 1 to 128
     * @param missingKeyStatus of the answer to a request without a key
     */
    public WebSettings(HeaderFields headers, int ipv6Prefix, int missingKeyStatus) {
        this.fields = new ResponseFields(headers);
        this.addresses = new ClientAddress(ipv6Prefix);
        this.missingKeys = new MissingKeys(missingKeyStatus, System::nanoTime);
    }

    ResponseFields fields() {
        return fields;
    }

    MissingKeys missingKeys() {
        return missingKeys;
    }

    ClientAddress addresses() {
        return addresses;
    }
}
