package io.ratelimit.web;

/** What requests and responses of both kinds have in common: which fields are sent, and who a caller is. */
public final class WebSettings {

    private final ResponseFields fields;

    private final ClientAddress addresses;

    /** @param ipv6Prefix how many bits of an IPv6 address are the caller's network, 1 to 128 */
    public WebSettings(HeaderFields headers, int ipv6Prefix) {
        this.fields = new ResponseFields(headers);
        this.addresses = new ClientAddress(ipv6Prefix);
    }

    ResponseFields fields() {
        return fields;
    }

    ClientAddress addresses() {
        return addresses;
    }
}
