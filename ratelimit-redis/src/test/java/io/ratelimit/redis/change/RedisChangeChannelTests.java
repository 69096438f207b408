package io.ratelimit.redis.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.internal.change.ChangeChannel.Subscriber;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.testing.LogRecorder;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

@Timeout(180)
class RedisChangeChannelTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RedisConnector connector = new RedisConnector(
            redis.connections(), Duration.ofSeconds(20), RateLimitScript.load(), RateLimitLibrary.load());

    private final List<RedisChangeChannel> channels = new ArrayList<>();

    private final List<HandTurnedThread> threads = new ArrayList<>();

    private final String prefix = RedisUnderTest.newPrefix();

    @AfterEach
    void stop() {
        channels.forEach(RedisChangeChannel::destroy);
        connector.destroy();
    }

    private RedisChangeChannel channel(Subscriber... subscribers) throws Exception {
        RedisChangeChannel channel = new RedisChangeChannel(connector, prefix);
        channels.add(channel);
        CountDownLatch connected = new CountDownLatch(1);
        for (Subscriber subscriber : subscribers) {
            channel.subscribe("topic", subscriber);
        }
        channel.subscribe("connected", new Subscriber() {

            @Override
            public void onMessage(String message) {}

            @Override
            public void onConnect() {
                connected.countDown();
            }
        });
        channel.start();
        assertThat(connected.await(60, TimeUnit.SECONDS)).isTrue();
        return channel;
    }

    @Test
    void subscriberThatThrowsAnErrorKeepsNothingFromOthers() throws Exception {
        connector.connect();
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        Subscriber broken = message -> {
            throw new NoClassDefFoundError(message);
        };
        try (LogRecorder log = new LogRecorder("io.ratelimit.redis")) {
            var unused = channel(broken, received::add);
            RedisChangeChannel sender = channel();
            for (String message : List.of("one", "two")) {
                sender.send("topic", message);
                assertThat(received.poll(60, TimeUnit.SECONDS)).isEqualTo(message);
            }
            assertThat(log.lines().stream().filter(line -> line.contains("A message about a change")))
                    .hasSize(1);
        }
    }

    private ScheduledExecutorService thread() {
        threads.add(new HandTurnedThread());
        return threads.get(threads.size() - 1);
    }

    /** As devtools and checkpoints do with a context. */
    @Test
    void restartsLeaveOneSeriesOfAttempts() {
        connector.connect();
        RedisChangeChannel channel = new RedisChangeChannel(connector, prefix, this::thread, Duration.ZERO);
        channels.add(channel);
        for (int i = 0; i < 3; i++) {
            channel.start();
            channel.start();
            threads.get(i).turn();
            channel.stop();
        }
        channel.start();
        threads.forEach(thread -> thread.pass(Duration.ofSeconds(2)));
        assertThat(threads.stream().map(HandTurnedThread::tasks)).containsExactly(0, 0, 0, 1);
        assertThat(subscriptions()).isEqualTo(1);
        channel.stop();
        threads.forEach(thread -> thread.pass(Duration.ofSeconds(2)));
        assertThat(threads).allMatch(HandTurnedThread::isIdle);
        await().until(() -> subscriptions() == 0);
    }

    /** Several instances can go on from one checkpoint, and hear each other. */
    @Test
    void messagesAfterAStartAreTellableFromThoseBefore() throws Exception {
        connector.connect();
        RedisChangeChannel channel = channel();
        String before = channel.publication("topic", "message").get(1);
        channel.stop();
        channel.start();
        assertThat(channel.publication("topic", "message").get(1)).isNotEqualTo(before);
    }

    /** A proxy that closes the connection may be replaced by one that knows the command. */
    @Test
    void subscriptionThatWasGivenUpIsTriedAgainEachHour() {
        AtomicBoolean refusing = new AtomicBoolean();
        AtomicInteger refusals = new AtomicInteger();
        RedisConnector proxied = connector(() -> {
            if (refusing.get()) {
                refusals.incrementAndGet();
                throw new RedisConnectionFailureException("Connection closed");
            }
            return redis.connections().getConnection();
        });
        assertThat(proxied.connect()).isTrue();
        refusing.set(true);
        HandTurnedThread thread = new HandTurnedThread();
        RedisChangeChannel channel = new RedisChangeChannel(proxied, prefix, () -> thread, Duration.ZERO);
        channels.add(channel);
        channel.start();
        thread.pass(Duration.ofMinutes(59));
        assertThat(refusals).hasValue(2);
        thread.pass(Duration.ofHours(1));
        assertThat(refusals).hasValue(3);
        refusing.set(false);
        thread.pass(Duration.ofHours(1));
        await().until(() -> subscriptions() == 1);
        channel.stop();
        proxied.destroy();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stopDuringASubscriptionEndsIt(boolean started) throws Exception {
        CountDownLatch subscribing = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        AtomicInteger subscribed = new AtomicInteger();
        List<RedisConnection> used = new CopyOnWriteArrayList<>();
        RedisConnector slow = connector(() -> slow(
                redis.connections().getConnection(),
                () -> {
                    subscribing.countDown();
                    awaitUninterruptibly(stopped);
                },
                connection -> {
                    used.add(connection);
                    subscribed.incrementAndGet();
                }));
        RedisChangeChannel channel = new RedisChangeChannel(slow, prefix);
        channels.add(channel);
        channel.start();
        subscribing.await();
        channel.stop();
        if (started) {
            channel.start();
        }
        stopped.countDown();
        int expected = started ? 1 : 0;
        await().until(() -> subscribed.get() == expected + 1);
        await().until(() -> subscriptions() == expected);
        // Each has a thread of its own.
        await().until(() -> used.stream().filter(RedisConnection::isSubscribed).count() == expected);
        channel.stop();
        slow.destroy();
    }

    /** Otherwise the client ends while it connects, which Netty logs as errors. */
    @Test
    void stopWaitsForAConnectionThatIsBeingCreated() throws Exception {
        CountDownLatch creating = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        List<RedisConnection> created = new CopyOnWriteArrayList<>();
        AtomicBoolean connected = new AtomicBoolean();
        RedisConnector slow = connector(() -> {
            if (connected.get()) {
                creating.countDown();
                try {
                    stopping.await();
                } catch (InterruptedException ex) {
                    interrupted.set(true);
                }
                created.add(redis.connections().getConnection());
            }
            return created.isEmpty() ? redis.connections().getConnection() : created.get(0);
        });
        assertThat(slow.connect()).isTrue();
        connected.set(true);
        RedisChangeChannel channel =
                new RedisChangeChannel(slow, prefix, () -> new ScheduledThreadPoolExecutor(1), Duration.ofMinutes(1));
        channels.add(channel);
        channel.start();
        creating.await();
        Thread stop = new Thread(channel::stop);
        stop.start();
        await().until(() -> stop.getState() == Thread.State.TIMED_WAITING || !stop.isAlive());
        stopping.countDown();
        stop.join();
        assertThat(interrupted).isFalse();
        assertThat(created).hasSize(1);
        // The thread that hears of the subscription may be closing it, too.
        await().until(created.get(0)::isClosed);
        slow.destroy();
    }

    /** A stop drops the timers of its client, the one that bounds the handshake included. */
    @Test
    void stopEndsTheWaitForAConnection() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            LettuceConnectionFactory never = new LettuceConnectionFactory(
                    new RedisStandaloneConfiguration(silent.getInetAddress().getHostAddress(), silent.getLocalPort()),
                    LettuceClientConfiguration.builder()
                            .commandTimeout(Duration.ofHours(1))
                            .build());
            never.setShareNativeConnection(false);
            never.start();
            AtomicBoolean connected = new AtomicBoolean();
            RedisConnector hanging = connector(() -> (connected.get() ? never : redis.connections()).getConnection());
            assertThat(hanging.connect()).isTrue();
            connected.set(true);
            ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1);
            RedisChangeChannel channel = new RedisChangeChannel(hanging, prefix, () -> thread, Duration.ofMillis(10));
            channels.add(channel);
            channel.start();
            try (Socket accepted = silent.accept()) {
                channel.stop();
                assertThat(thread.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
                assertThat(accepted.isConnected()).isTrue();
            }
            never.destroy();
            hanging.destroy();
        }
    }

    /** An interrupt has no effect, as on drivers that block. */
    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException ex) {
                // The wait goes on.
            }
        }
    }

    private long subscriptions() {
        return new StringRedisTemplate(redis.connections()).convertAndSend(prefix + ":%changes", "counts receivers");
    }

    private static RedisConnector connector(Supplier<RedisConnection> connections) {
        RedisConnectionFactory factory = (RedisConnectionFactory) Proxy.newProxyInstance(
                RedisConnectionFactory.class.getClassLoader(),
                new Class<?>[] {RedisConnectionFactory.class},
                (proxy, method, arguments) -> method.getName().equals("getConnection")
                        ? connections.get()
                        : method.invoke(redis.connections(), arguments));
        return new RedisConnector(factory, Duration.ofSeconds(20), RateLimitScript.load(), null);
    }

    /** Returns a connection with hooks before it subscribes, and after. */
    private static RedisConnection slow(RedisConnection connection, Runnable before, Consumer<RedisConnection> after) {
        return (RedisConnection) Proxy.newProxyInstance(
                RedisConnection.class.getClassLoader(),
                new Class<?>[] {RedisConnection.class},
                (proxy, method, arguments) -> {
                    boolean subscribes = method.getName().equals("subscribe");
                    if (subscribes) {
                        before.run();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException ex) {
                        throw ex.getCause();
                    } finally {
                        if (subscribes) {
                            after.accept(connection);
                        }
                    }
                });
    }
}
