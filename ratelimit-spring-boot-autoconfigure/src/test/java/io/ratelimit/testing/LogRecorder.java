package io.ratelimit.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Listens to a logger until it is closed. */
public final class LogRecorder extends Handler implements AutoCloseable {

    private final Logger logger;

    private final List<String> levels = new CopyOnWriteArrayList<>();

    private final List<String> lines = new CopyOnWriteArrayList<>();

    public LogRecorder(Class<?> type) {
        this(type.getName());
    }

    public LogRecorder(String name) {
        logger = Logger.getLogger(name);
        logger.addHandler(this);
    }

    public List<String> levels() {
        return levels;
    }

    public List<String> lines() {
        return lines;
    }

    /** Returns all lines, each with its level. */
    public String text() {
        return IntStream.range(0, lines.size())
                .mapToObj(i -> levels.get(i) + " " + lines.get(i))
                .collect(Collectors.joining("\n"));
    }

    @Override
    public void publish(LogRecord record) {
        levels.add(record.getLevel().getName());
        lines.add(new SimpleFormatter().formatMessage(record));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
