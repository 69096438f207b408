package io.ratelimit.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ForegroundLogTests {

    @Test
    void recordsOfTheBackgroundAreLeftOutWithAllTheirLines() {
        assertThat(ForegroundLog.of("""
                        2026-11-23T09:13:36.228Z  WARN 1 --- [main] io.ratelimit.web : one
                        2026-11-23T09:13:36.228Z ERROR 1 --- [loop-1] i.n.u.c.D.rejectedExecution : Failed to submit a task

                        java.util.concurrent.RejectedExecutionException: event executor terminated
                        \tat io.netty.util.concurrent.SingleThreadEventExecutor.reject(SingleThreadEventExecutor.java:1134)
                        09:09:07.456 [main] ERROR com.acme.Controller -- two
                        java.lang.IllegalStateException: three
                        09:09:07.456 [loop-1] WARN io.lettuce.core.protocol.ConnectionWatchdog -- Cannot reconnect
                        Nov 23, 2026 9:09:24 AM io.ratelimit.internal.concurrent.Watchdog$Part check
                        WARNING: The circuit breaker was open without probes
                        Nov 23, 2026 9:09:24 AM io.ratelimit.internal.store.failover.Outage news
                        WARNING: four
                        """)).isEqualTo("""
                        2026-11-23T09:13:36.228Z  WARN 1 --- [main] io.ratelimit.web : one
                        09:09:07.456 [main] ERROR com.acme.Controller -- two
                        java.lang.IllegalStateException: three
                        Nov 23, 2026 9:09:24 AM io.ratelimit.internal.store.failover.Outage news
                        WARNING: four""");
    }
}
