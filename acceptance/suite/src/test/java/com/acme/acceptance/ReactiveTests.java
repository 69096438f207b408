package com.acme.acceptance;

class ReactiveTests extends AbstractLimitTests {

    private static final Redis REDIS = Redis.start();

    private static final Application APPLICATION = Application.start("reactive", REDIS.properties());

    @Override
    Application application() {
        return APPLICATION;
    }
}
