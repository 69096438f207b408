package io.ratelimit.redis.change;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.PeriodicTask;
import io.ratelimit.redis.connection.BackgroundCommands;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.RedisFailureMapper;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.SubscriptionListener;

/** Sends messages by publish and subscribe: one channel of Redis for all topics, on a connection of its own. */
public final class RedisChangeChannel implements ChangeChannel, DisposableBean {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final int WAITING = 1_000;

    /** Between two attempts to subscribe. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** The pause for a server that has closed the connection twice: it may be replaced by one that knows the command. */
    private static final Duration LONG_PAUSE = Duration.ofHours(1);

    private static final Duration CONNECT = Duration.ofMillis(500);

    private final RedisConnector connector;

    private final String channel;

    /** Tells the messages of this instance from others, also of one that has started from the same checkpoint. */
    private volatile String instance = "";

    private final Map<String, List<Subscriber>> subscribers = new ConcurrentHashMap<>();

    private final BackgroundCommands commands;

    private final Executor receiver = DaemonThreads.create("ratelimit-subscribe", 1, WAITING);

    private final Supplier<ScheduledExecutorService> threads;

    /** How long a stop waits for a connection that is being created. */
    private final Duration patience;

    /** From the last start to the next stop. */
    private volatile @Nullable SubscriptionKeeper keeper;

    private volatile boolean logged;

    /** Attempts whose connection was closed, before one succeeded. Two are a proxy's that does not know the command. */
    private final AtomicInteger closed = new AtomicInteger();

    private final AtomicBoolean forbiddenLogged = new AtomicBoolean();

    private final FirstFailureLog subscriberFailures = new FirstFailureLog(
            "io.ratelimit.redis", "A message about a change of rate limits failed; further failures are not logged");

    /** @param keyPrefix the prefix of all keys of the starter, which the channel's name has, too */
    public RedisChangeChannel(RedisConnector connector, String keyPrefix) {
        this(connector, keyPrefix, () -> DaemonThreads.createScheduler("ratelimit-channel"), CONNECT);
    }

    /** @param threads creates the thread of the attempts, from a start to the next stop */
    RedisChangeChannel(
            RedisConnector connector, String keyPrefix, Supplier<ScheduledExecutorService> threads, Duration patience) {
        this.connector = connector;
        this.threads = threads;
        this.patience = patience;
        this.channel = keyPrefix + ":%changes";
        this.commands = new BackgroundCommands(connector, "messages", "ratelimit-publish", 1, WAITING);
    }

    @Override
    public void send(String topic, String message) {
        if (keeper != null) {
            String text = text(topic, message);
            var unused = commands.run(template -> template.convertAndSend(channel, text))
                    .exceptionally(thrown -> {
                        warnIfForbidden(Futures.unwrap(thrown));
                        return 0L;
                    });
        }
    }

    private String text(String topic, String message) {
        return instance + " " + topic + " " + message;
    }

    /** Returns the channel and the text of a message, for a script that publishes it. */
    List<String> publication(String topic, String message) {
        return List.of(channel, text(topic, message));
    }

    @Override
    public void subscribe(String topic, Subscriber subscriber) {
        subscribers
                .computeIfAbsent(topic, first -> new CopyOnWriteArrayList<>())
                .add(subscriber);
    }

    /** Subscribes in the background. */
    public synchronized void start() {
        if (keeper == null) {
            instance = UUID.randomUUID().toString();
            SubscriptionKeeper next = new SubscriptionKeeper();
            keeper = next;
            next.attempts.start();
        }
    }

    /** Returns whether the user of Redis lacks a permission. That is no outage, and stays until it is granted. */
    private boolean warnIfForbidden(Throwable failure) {
        boolean forbidden =
                closed.get() > 1 || RedisFailureMapper.of("Redis", failure).getReason() == Reason.FORBIDDEN;
        if (forbidden && forbiddenLogged.compareAndSet(false, true)) {
            logger.log(
                    Level.WARNING,
                    "Redis does not permit the channel '" + channel + "' ("
                            + NestedExceptionUtils.getMostSpecificCause(failure).getMessage()
                            + "); changes of rate limits, and permits that other instances release, are found by polling,"
                            + " within a second. A user needs &" + channel + " +publish +subscribe +unsubscribe");
        }
        return forbidden;
    }

    private void log(Throwable failure) {
        if (keeper != null && !warnIfForbidden(failure) && !logged) {
            logged = true;
            logger.log(
                    Level.INFO,
                    "Cannot subscribe to changes of rate limits ("
                            + NestedExceptionUtils.getMostSpecificCause(failure).getMessage()
                            + "); finding them by polling, within a second");
        }
    }

    /** Ends the subscription, while there are connections. */
    public synchronized void stop() {
        SubscriptionKeeper ended = keeper;
        keeper = null;
        if (ended != null) {
            ended.end();
        }
    }

    private static void close(@Nullable RedisConnection ended) {
        try {
            if (ended != null) {
                ended.close();
            }
        } catch (RuntimeException ex) {
            logger.log(Level.DEBUG, "Ending a subscription failed", ex);
        }
    }

    @Override
    public void destroy() {
        stop();
    }

    /** Runs the task not on the thread of the driver, which reads replies, too. */
    private void onReceiver(Runnable task) {
        try {
            receiver.execute(task);
        } catch (RejectedExecutionException ex) {
            // Too many wait: dropped.
        }
    }

    private void each(List<Subscriber> told, Consumer<Subscriber> call) {
        for (Subscriber subscriber : told) {
            try {
                call.accept(subscriber);
            } catch (Throwable ex) {
                subscriberFailures.log(ex);
            }
        }
    }

    /** Keeps one subscription, from a start to the next stop. */
    private final class SubscriptionKeeper {

        private final PeriodicTask attempts = new PeriodicTask(threads.get(), this::attempt, this::pauseMillis);

        private volatile boolean tried;

        /** {@code null}: none, or not yet. Drivers subscribe nevertheless if it is closed too early. */
        private volatile @Nullable RedisConnection subscription;

        /** Done when no connection is being created. */
        private volatile CompletableFuture<@Nullable Void> created = CompletableFuture.completedFuture(null);

        private boolean isEnded() {
            return !attempts.isRunning();
        }

        private long pauseMillis() {
            return tried ? (closed.get() < 2 ? PAUSE : LONG_PAUSE).toMillis() : 0;
        }

        private void attempt() {
            tried = true;
            try {
                if (!isSubscribed() && connector.connect(CONNECT)) {
                    subscribe();
                }
            } catch (Throwable ex) {
                if (!isEnded()) {
                    closed.addAndGet(RedisFailureMapper.isConnectionLost(ex) ? 1 : 0);
                    log(ex);
                }
            }
        }

        private boolean isSubscribed() {
            RedisConnection known = subscription;
            return known != null && known.isSubscribed();
        }

        /**
         * Subscribes on a connection of its own. Lettuce returns at once, and subscribes again by itself when it has reconnected;
         * a driver that blocks returns when the subscription has ended. There is no listener container of Spring Data here, because
         * that logs each attempt as an error, with a stack trace, and cannot be stopped while it waits for the next one.
         */
        private void subscribe() {
            CompletableFuture<@Nullable Void> creation = new CompletableFuture<>();
            created = creation;
            try {
                if (!isEnded()) {
                    close(subscription);
                    subscribe(connector.connections().getConnection());
                }
            } finally {
                creation.complete(null);
            }
        }

        private void subscribe(RedisConnection connection) {
            boolean subscribed = false;
            try {
                connection.subscribe(new Subscription(connection), channel.getBytes(StandardCharsets.UTF_8));
                subscription = connection;
                subscribed = !isEnded() && connection.isSubscribed();
            } finally {
                if (!subscribed) {
                    subscription = null;
                    close(connection);
                }
            }
        }

        /**
         * If the client ended while it connects, Netty would log errors, so a connection that is being created is waited for: for a
         * moment, because its server may be silent, and the timeout of its handshake ends with the client.
         */
        private void end() {
            attempts.stop();
            close(subscription);
            BoundedWait.await(created, patience);
            // Interrupts the thread that may still wait for a connection.
            attempts.close();
            close(subscription);
        }

        private final class Subscription implements MessageListener, SubscriptionListener {

            private final RedisConnection connection;

            Subscription(RedisConnection connection) {
                this.connection = connection;
            }

            @Override
            public void onMessage(Message message, byte @Nullable [] pattern) {
                String[] words = new String(message.getBody(), StandardCharsets.UTF_8).split(" ", 3);
                if (words.length == 3 && !words[0].equals(instance)) {
                    onReceiver(() ->
                            each(subscribers.getOrDefault(words[1], List.of()), told -> told.onMessage(words[2])));
                }
            }

            @Override
            public void onChannelSubscribed(byte[] subscribed, long count) {
                logged = false;
                closed.set(Integer.MIN_VALUE);
                // A driver that blocks has not returned.
                subscription = connection;
                if (isEnded()) {
                    onReceiver(() -> close(connection));
                } else {
                    created.complete(null);
                }
                onReceiver(() -> subscribers.values().forEach(told -> each(told, Subscriber::onConnect)));
            }
        }
    }
}
