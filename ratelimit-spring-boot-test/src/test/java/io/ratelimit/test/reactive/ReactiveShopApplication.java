package io.ratelimit.test.reactive;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class ReactiveShopApplication {}
