package io.ratelimit.web;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;

/**
 * Lets applications of one JVM run at the same time. The first that ends would otherwise end the threads of Netty, which all share,
 * and the graceful shutdown of each other application could time out.
 */
final class KeptNettyThreads implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        ((GenericApplicationContext) context).registerBean(ReactorResourceFactory.class, Kept::new);
    }

    private static final class Kept extends ReactorResourceFactory {

        @Override
        public void stop() {}

        @Override
        public void destroy() {}
    }
}
