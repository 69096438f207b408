package com.acme.acceptance;

class ServletTests extends AbstractLimitTests {

    private static final Redis REDIS = Redis.start();

    private static final Application APPLICATION = Application.start("servlet", REDIS.properties());

    @Override
    Application application() {
        return APPLICATION;
    }
}
