package io.ratelimit.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** The event loops of Reactor Netty are in {@code KeptConnectionTests}. */
class ReactorSchedulersTests {

    @Test
    void eventLoopOfADriverDoesNotRunMethods() throws Exception {
        DefaultEventLoop driver = new DefaultEventLoop();
        try {
            assertThat(driver.submit(ReactorSchedulers::eventLoopOrParallel).get())
                    .isSameAs(Schedulers.parallel());
        } finally {
            assertThat(driver.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(10_000))
                    .isTrue();
        }
    }

    @Test
    void otherThreadsContinueInParallel() {
        assertThat(ReactorSchedulers.eventLoopOrParallel()).isSameAs(Schedulers.parallel());
    }
}
