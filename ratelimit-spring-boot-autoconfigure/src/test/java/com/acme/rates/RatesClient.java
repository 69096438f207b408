package com.acme.rates;

import java.math.BigDecimal;

/** A client of a library, which the documentation limits by a pointcut. */
public class RatesClient {

    public BigDecimal rate(String currency) {
        return new BigDecimal(currency.length());
    }
}
