package io.ratelimit.test.shop;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with limits, as the tests of users have one. */
@SpringBootApplication
class ShopApplication {}
