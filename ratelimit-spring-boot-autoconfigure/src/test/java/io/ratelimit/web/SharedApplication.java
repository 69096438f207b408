package io.ratelimit.web;

import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Starts applications on a real server, with a stopped clock and limits in memory. Tests of one class that want the same
 * properties share one, because a start takes longer than most tests. As an extension, ends them with the class.
 */
final class SharedApplication implements AfterAllCallback {

    /** More than any limit of these tests counts. */
    private static final Duration LATER = Duration.ofDays(400);

    private static final Map<Wanted, ConfigurableApplicationContext> running = new HashMap<>();

    private record Wanted(Class<?> source, WebApplicationType type, List<String> properties) {}

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

    private static ConfigurableApplicationContext get(Class<?> source, WebApplicationType type, String[] properties) {
        Wanted wanted = new Wanted(source, type, List.of(properties));
        ConfigurableApplicationContext context = running.get(wanted);
        if (context == null) {
            context = start(wanted);
            running.put(wanted, context);
        } else {
            context.getBean(StoppedClock.class).advance(LATER);
            context.getBean(RecordingListener.class).forgetDecisions();
        }
        return context;
    }

    private static ConfigurableApplicationContext start(Wanted wanted) {
        String[] arguments = Stream.concat(
                        Stream.of("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off"),
                        wanted.properties().stream())
                .map(property -> "--" + property)
                .toArray(String[]::new);
        return new SpringApplicationBuilder(wanted.source())
                .web(wanted.type())
                .properties("ratelimit.store=in-memory")
                .initializers(new KeptNettyThreads())
                .run(arguments);
    }

    private static void stop() {
        List<ConfigurableApplicationContext> ending = List.copyOf(running.values());
        running.clear();
        ending.forEach(ConfigurableApplicationContext::close);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop();
    }
}
