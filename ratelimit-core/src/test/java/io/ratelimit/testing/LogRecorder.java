package io.ratelimit.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Collectors;

/**
 * Listens to a logger, and to those below it, until it is closed. Tests of other classes may have left something behind in this
 * JVM that logs, too: a test that allows no other line listens {@linkplain #ofThisThread to its own thread}, if it can.
 */
public final class LogRecorder extends Handler implements AutoCloseable {

    private final Logger logger;

    private final Predicate<Thread> threads;

    private final List<Line> recorded = new CopyOnWriteArrayList<>();

    private record Line(String level, String message) {}

    public LogRecorder(String name) {
        this(name, thread -> true);
    }

    private LogRecorder(String name, Predicate<Thread> threads) {
        this.threads = threads;
        logger = Logger.getLogger(name);
        logger.addHandler(this);
    }

    /** Listens to what the calling thread logs. */
    public static LogRecorder ofThisThread(String name) {
        return new LogRecorder(name, Thread.currentThread()::equals);
    }

    public List<String> levels() {
        return recorded(Line::level);
    }

    public List<String> lines() {
        return recorded(Line::message);
    }

    private List<String> recorded(Function<Line, String> what) {
        return recorded.stream().map(what).toList();
    }

    /** Returns all lines, each with its level. */
    public String text() {
        return recorded.stream().map(line -> line.level + " " + line.message).collect(Collectors.joining("\n"));
    }

    public void forget() {
        recorded.clear();
    }

    @Override
    public void publish(LogRecord record) {
        if (threads.test(Thread.currentThread())) {
            recorded.add(new Line(record.getLevel().getName(), new SimpleFormatter().formatMessage(record)));
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
