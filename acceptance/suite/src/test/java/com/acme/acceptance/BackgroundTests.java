package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Calls without a client: {@code @Async}, {@code @Scheduled}, Spring Integration. */
class BackgroundTests {

    private static final Application APPLICATION = Application.start("background");

    @Test
    void anAsyncTaskIsRejectedBeforeItIsHandedOver() {
        APPLICATION.allowed("/async");
        logged("async runs in task-", 1);
        APPLICATION.rejected("async", "/async");
        assertQuiet("async");
    }

    @Test
    void theFutureOfAnAsyncTaskIsCompletedWithTheRejection() {
        assertThat(APPLICATION.allowed("/async-future").body()).isEqualTo("42");
        APPLICATION.rejected("async-future", "/async-future");
        assertQuiet("async-future");
    }

    @Test
    void aScheduleGoesOnAndLogsEachRejectedRun() {
        logged(" ERROR [^\\n]*scheduled task\\R\\R?[^\\n]*Rate limit 'scheduled' exceeded", 2);
        logged("scheduled runs", 1);
    }

    @Test
    void aScheduleThatReturnsAMonoLogsWarnings() {
        logged(" WARN [^\\n]*\\R\\R?[^\\n]*Rate limit 'scheduled-mono' exceeded", 2);
        assertThat(count(" ERROR [^\\n]*\\R\\R?[^\\n]*Rate limit 'scheduled-mono' exceeded"))
                .isZero();
        logged("scheduled-mono runs", 1);
    }

    @Test
    void aFallbackMethodSkipsTheRun() {
        logged("scheduled-fallback is skipped", 2);
        logged("scheduled-fallback runs", 1);
        assertQuiet("scheduled-fallback");
    }

    @Test
    void aScheduleWithATimeToWaitWaits() {
        logged("scheduled-waiting runs", 4);
        assertQuiet("scheduled-waiting");
    }

    @Test
    void whatAGatewayRejectsIsThrownToTheSender() {
        assertThat(APPLICATION.allowed("/gateway").body()).isEqualTo("42");
        APPLICATION.rejected("gateway", "/gateway");
        assertQuiet("gateway");
    }

    @Test
    void whatAHandlerBehindADirectChannelRejectsIsThrownToTheSender() {
        assertThat(APPLICATION.allowed("/direct").body()).isEqualTo("42");
        APPLICATION.rejected("direct", "/direct");
        assertQuiet("direct");
    }

    @Test
    void aMessageThatAPollerBringsIsLostIfItIsRejected() {
        for (String text : new String[] {"a", "b", "c"}) {
            APPLICATION.allowed("/polled/" + text);
        }
        logged(" ERROR [^\\n]*LoggingHandler(?:(?! ---)[\\s\\S])*Rate limit 'polled' exceeded", 2);
        assertThat(count("polled: ")).isOne();
    }

    @Test
    void aPollerWithATimeToWaitWaits() {
        for (String text : new String[] {"a", "b", "c"}) {
            APPLICATION.allowed("/waiting/" + text);
        }
        Await.until("the messages", () -> count("waiting: ") == 3);
        assertQuiet("waiting");
    }

    /** At least as often. */
    private static void logged(String pattern, int times) {
        Await.until(pattern, () -> count(pattern) >= times);
    }

    private static long count(String pattern) {
        return Pattern.compile(pattern).matcher(APPLICATION.log()).results().count();
    }

    private static void assertQuiet(String limit) {
        assertThat(APPLICATION.log()).doesNotContain("Rate limit '" + limit + "' exceeded");
    }
}
