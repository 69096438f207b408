package io.ratelimit.web;

import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Starts applications on a real server, with a stopped clock and limits in memory. Tests of one class that follow each other and
 * want the same properties share one, because a start takes longer than most tests. As an extension, ends it with the class.
 */
final class SharedApplication implements AfterAllCallback {

    /** More than any limit of these tests counts. */
    private static final Duration LATER = Duration.ofDays(400);

    private static @Nullable Class<?> source;

    private static String[] properties = {};

    private static @Nullable ConfigurableApplicationContext last;

    /** Every bucket is full, and nothing recorded. */
    static void with(
            Class<?> wantedSource,
            WebApplicationType type,
            String[] wanted,
            Consumer<ConfigurableApplicationContext> test) {
        boolean passed = false;
        try {
            test.accept(get(wantedSource, type, wanted));
            passed = true;
        } finally {
            if (!passed) {
                stop();
            }
        }
    }

    private static ConfigurableApplicationContext get(Class<?> wantedSource, WebApplicationType type, String[] wanted) {
        ConfigurableApplicationContext context = last;
        if (context != null && source == wantedSource && Arrays.equals(properties, wanted)) {
            context.getBean(StoppedClock.class).advance(LATER);
            context.getBean(RecordingListener.class).forgetDecisions();
            return context;
        }
        stop();
        String[] arguments = Stream.concat(
                        Stream.of("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off"),
                        Arrays.stream(wanted))
                .map(property -> "--" + property)
                .toArray(String[]::new);
        context = new SpringApplicationBuilder(wantedSource)
                .web(type)
                .properties("ratelimit.store=in-memory")
                .run(arguments);
        source = wantedSource;
        properties = wanted.clone();
        last = context;
        return context;
    }

    private static void stop() {
        if (last != null) {
            last.close();
            last = null;
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop();
    }
}
