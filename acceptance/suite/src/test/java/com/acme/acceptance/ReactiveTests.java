package com.acme.acceptance;

class ReactiveTests extends AbstractLimitTests {

    ReactiveTests() {
        super(Application.REACTIVE);
    }
}
