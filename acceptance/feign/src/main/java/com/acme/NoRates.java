package com.acme;

import org.springframework.stereotype.Component;

/** Called when the partner fails, after the client has been charged. */
@Component
class NoRates implements RatesClient {

    @Override
    public String rate() {
        return "none";
    }
}
