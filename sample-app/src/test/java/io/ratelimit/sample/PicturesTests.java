package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.sample.browser.Browser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The pictures in the documentation show the pages as they are now. On demand, this class takes them. */
class PicturesTests {

    private static final String TAKE_THEM = "-Dratelimit.test.write-pictures=true";

    private static final int MOST_BYTES = 150_000;

    /** For a chart that shows something: the load, and for its last third a caller that repeats rejected calls. */
    private static final long LOAD_SECONDS = 60;

    @BeforeAll
    static void takePictures(@TempDir Path directory) throws Exception {
        if (!Boolean.getBoolean("ratelimit.test.write-pictures")) {
            return;
        }
        Browser browser = Browser.get();
        assertThat(browser.isReal())
                .as("Pictures need a Chromium and its chromedriver")
                .isTrue();
        String keyPrefix = Sample.newKeyPrefix();
        try (Sample one = Sample.startOnSharedRedis(keyPrefix, "ratelimit.top-keys.enabled=true");
                Sample other = Sample.startOnSharedRedis(keyPrefix, "ratelimit.top-keys.enabled=true")) {
            browser.open(one.url("/"));
            browser.await(
                    "the bucket is full",
                    () -> browser.text("[data-limit=quotes][data-key]").contains("full"));
            browser.click("[data-uri^='/api/quotes'] .ten");
            browser.await("ten answers", () -> browser.isShown("[data-uri^='/api/quotes'] .summary"));
            Pictures.PLAYGROUND.take(browser, directory);

            load(one, other);
            browser.open(one.url("/ratelimits"));
            browser.await("the limits are shown", () -> browser.isShown("[data-limit=quotes] a"));
            browser.await(
                    "the page is live", () -> browser.text("#connection-text").equals("Live"));
            browser.await(
                    "the caller is named", () -> browser.text("#finding-facts").contains("mallory"));
            Pictures.DASHBOARD.take(browser, directory);
        }
    }

    private static void load(Sample one, Sample other) throws Exception {
        ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
        try {
            AtomicInteger ticks = new AtomicInteger();
            ScheduledFuture<?> calls = pace.scheduleAtFixedRate(
                    () -> call(one, other, ticks.getAndIncrement()), 0, 200, TimeUnit.MILLISECONDS);
            pace.schedule(() -> {}, LOAD_SECONDS, TimeUnit.SECONDS).get();
            assertThat(calls.isDone()).as("A call has failed").isFalse();
        } finally {
            pace.shutdownNow();
        }
    }

    private static void call(Sample one, Sample other, int tick) {
        if (tick % 5 == 0) {
            one.quote("alice");
            other.quote("bob");
            other.get("/api/search?user=carol");
        }
        if (tick % 15 == 0) {
            one.report("acme", 7);
            other.login("dave-" + tick);
        }
        if (tick > LOAD_SECONDS * 10 / 3) {
            (tick % 2 == 0 ? one : other).quote("mallory");
        }
    }

    @ParameterizedTest
    @EnumSource
    void areOfThePageAsItIs(Pictures pictures) throws IOException {
        assertThat(pictures.takenOf())
                .as(
                        "The page has changed since its pictures were taken. Take them again: ./mvnw test -pl sample-app -am "
                                + "-Dtest=PicturesTests -Dsurefire.failIfNoSpecifiedTests=false " + TAKE_THEM)
                .isEqualTo(pictures.digest());
    }

    @ParameterizedTest
    @EnumSource
    void areSmallAndOfBothColourSchemes(Pictures pictures) throws IOException {
        Path light = pictures.file(false);
        Path dark = pictures.file(true);

        assertThat(Files.size(light)).isLessThan(MOST_BYTES);
        assertThat(Files.size(dark)).isLessThan(MOST_BYTES);
        assertThat(Pictures.brightness(light)).isGreaterThan(200);
        assertThat(Pictures.brightness(dark)).isLessThan(80);
    }
}
