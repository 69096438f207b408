package com.acme.acceptance;

/** No Redis runs. */
class InMemoryTests extends AbstractLimitTests {

    private static final Application APPLICATION = Application.start("in-memory");

    @Override
    Application application() {
        return APPLICATION;
    }
}
