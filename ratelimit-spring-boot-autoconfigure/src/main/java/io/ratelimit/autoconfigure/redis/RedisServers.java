package io.ratelimit.autoconfigure.redis;

import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.publisher.RateLimitEventPublisher;
import io.ratelimit.internal.change.BucketMessages;
import io.ratelimit.internal.change.ChangeChannel;
import io.ratelimit.internal.change.ChangeListener;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.store.StoreInstrumentation;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.lease.LeasingRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCache;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisClock;
import io.ratelimit.redis.connection.InstanceClockExecutor;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryInitializer;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Holds the connections to the Redis servers that limits are counted in. Those of further servers, which limits name, are no beans
 * of their own, so that nothing takes one of them for the first Redis.
 */
public final class RedisServers implements BeanFactoryInitializer<ListableBeanFactory>, ChangeListener, DisposableBean {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The time that a start-up waits for connections. They are made while the other beans are. */
    private static final Duration START_UP = Duration.ofSeconds(2);

    /** The maximum time of a shutdown for refunding leases. If Redis does not answer, it ends earlier. */
    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    private final Map<String, Server> byId;
    private final @Nullable RedisWarmUp warmUp;

    /** One for each server that has a store. */
    private final List<LeasingRateLimitStore> leases = new CopyOnWriteArrayList<>();

    /**
     * @param byId by their names in lower case without dashes and underscores; the first is that of {@code ratelimit.redis}
     * @param warmUp of the first; {@code null}: its executor is the application's
     */
    RedisServers(Map<String, Server> byId, @Nullable RedisWarmUp warmUp) {
        this.byId = byId;
        this.warmUp = warmUp;
    }

    /** Whether there are others besides the first. */
    public boolean areSeveral() {
        return byId.size() > 1;
    }

    /** Returns the names as they are written, that of the first Redis included; empty if there is no other. */
    public List<String> names() {
        return areSeveral() ? byId.values().stream().map(Server::name).toList() : List.of();
    }

    /** Returns the longest time for a decision of any server. */
    public Duration longestTimeout() {
        return byId.values().stream()
                .map(server -> server.properties.timeout())
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /** Connects before the beans of the application are created. */
    @Override
    public void initialize(ListableBeanFactory beans) {
        byId.values().forEach(server -> {
            try {
                server.connector().ifPresent(RedisConnector::connectInBackground);
            } catch (Throwable ex) {
                logger.log(Level.DEBUG, "Redis '" + server.name + "': the first call connects", ex);
            }
        });
        byId.values().forEach(Server::warnOfClocks);
        if (warmUp != null) {
            warmUp.start();
        }
    }

    /** Describes the servers for the log. */
    public String describe() {
        StringBuilder text = new StringBuilder("Rate limits are counted in Redis");
        byId.forEach((id, server) -> {
            boolean first = id.equals(RedisServerProperties.DEFAULT);
            text.append(first ? "" : "; those with redis '" + server.name + "'");
            server.connector().ifPresent(connector -> text.append(" at ").append(connector.address()));
            text.append(first ? ", under the key prefix '" : ", under '");
            text.append(server.properties.keyPrefix()).append('\'');
        });
        return text.toString();
    }

    /** Waits until the first attempts to connect have ended, for all further servers together as long as a start-up may. */
    public void await() {
        if (warmUp != null) {
            warmUp.await();
        }
        long end = System.nanoTime() + START_UP.toNanos();
        // The warm-up has waited for the first.
        byId.values().stream()
                .skip(1)
                .flatMap(server -> server.connector().stream())
                .forEach(connector -> {
                    var unused = connector.connect(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
                });
    }

    /**
     * Stacks the stores of the servers.
     *
     * @param instance decides the limits that instances do not share
     */
    public RoutingRateLimitStore store(Layers layers, RateLimitStore instance) {
        Map<String, FailoverRateLimitStore> others = new LinkedHashMap<>();
        byId.forEach((id, server) -> others.put(id, failover(server, layers)));
        List<FailoverRateLimitStore> all = List.copyOf(others.values());
        // Asks each of them, because asking begins a check.
        layers.instrumented.state(
                () -> all.stream().filter(FailoverRateLimitStore::isAvailable).count() == all.size());
        FailoverRateLimitStore byDefault = Objects.requireNonNull(others.remove(RedisServerProperties.DEFAULT));
        if (others.isEmpty()) {
            return RoutingRateLimitStore.byScope(byDefault, instance);
        }
        boolean remember = byId.values().stream().allMatch(server -> server.properties.rememberRejections());
        return RoutingRateLimitStore.byScope(
                RoutingRateLimitStore.byServer(
                        byDefault, others, store -> remember ? layers.rememberingRejections(store) : store),
                instance);
    }

    private FailoverRateLimitStore failover(Server server, Layers layers) {
        String name = areSeveral() ? server.name : null;
        RateLimitStore shared = layers.instrumented.timed(server.store(layers), "redis", name);
        LeasingRateLimitStore leasing = new LeasingRateLimitStore(
                server.properties.rememberRejections() ? layers.rememberingRejections(shared) : shared,
                server.properties.timeout());
        leases.add(leasing);
        FailoverRateLimitStore store = new FailoverRateLimitStore(leasing, layers.local, layers.events::publish, name);
        if (name != null) {
            layers.instrumented.state(name, store::isAvailable);
        }
        return store;
    }

    /** Returns how many permits of a limit this instance has leased and not handed out. */
    public long leased(EffectiveLimit limit) {
        String id = limit.get().id();
        return leases.stream().mapToLong(leasing -> leasing.leased(id)).sum();
    }

    /** Refunds the leases of a limit that changes. */
    @Override
    public void onChange(RateLimitChangedEvent event) {
        boolean ofLimit = switch (event.kind()) {
            case OVERRIDDEN, OVERRIDE_REMOVED, OVERRIDE_ENDED, RECONFIGURED -> true;
            case RESET, GRANTED, BLOCKED, UNBLOCKED, UNCONFIRMED -> false;
        };
        if (ofLimit) {
            leases.forEach(leasing -> leasing.retire(LimitNames.canonical(event.limitName())));
        }
    }

    /** Connects again after a {@link #stop}. */
    public void start() {
        sideBySide(Server::start);
        leases.forEach(LeasingRateLimitStore::resume);
    }

    /** Refunds all leases, while there are connections. Then expects failures, and closes the connections. */
    public void stop() {
        try {
            leases.forEach(leasing -> leasing.refundAll(SHUTDOWN));
        } finally {
            sideBySide(Server::stop);
        }
    }

    @Override
    public void destroy() {
        if (warmUp != null) {
            warmUp.end();
        }
        leases.forEach(LeasingRateLimitStore::close);
        sideBySide(Server::destroy);
    }

    /** Waits for servers that do not answer at the same time. */
    private void sideBySide(Consumer<Server> task) {
        if (!areSeveral()) {
            byId.values().forEach(task);
            return;
        }
        Executor threads = DaemonThreads.create("ratelimit-servers", byId.size(), byId.size());
        BoundedWait.get(
                CompletableFuture.allOf(byId.values().stream()
                        .map(server -> CompletableFuture.runAsync(() -> task.accept(server), threads))
                        .toArray(CompletableFuture[]::new)),
                RateLimitStore.LONGEST);
    }

    /** One server. */
    static class Server {

        private final String name;
        private final RedisStoreProperties properties;
        private final RateLimitScriptExecutor executor;
        private final GuardedRedis guarded;

        Server(String name, RedisStoreProperties properties, RateLimitScriptExecutor executor) {
            this.name = name;
            this.properties = properties;
            this.executor = executor;
            this.guarded = new GuardedRedis(
                    InstanceClockExecutor.of(properties.clock(), executor),
                    properties.timeout(),
                    properties.keyPrefix());
        }

        /** Returns the connections, unless the application has an executor of its own. */
        private Optional<RedisConnector> connector() {
            return executor instanceof RedisConnector connector ? Optional.of(connector) : Optional.empty();
        }

        /** Says what clocks of instances cost. */
        void warnOfClocks() {
            if (properties.clock() == RedisClock.INSTANCE) {
                logger.log(
                        Level.WARNING,
                        "Limits in Redis '" + name
                                + "' go by the clocks of instances (clock=instance). Where these differ by a"
                                + " second, limits admit what comes back in a second more, and calls wait up to a second"
                                + " longer: synchronize them, by NTP for example");
            }
        }

        void start() {
            connector().ifPresent(RedisConnector::start);
            guarded.start();
        }

        void stop() {
            guarded.stop();
            connector().ifPresent(RedisConnector::stop);
        }

        void destroy() {
            guarded.destroy();
            connector().ifPresent(RedisConnector::destroy);
        }

        /** Returns the name as it is written. */
        String name() {
            return name;
        }

        private RateLimitStore store(Layers layers) {
            RedisRateLimitStore store = new RedisRateLimitStore(guarded, properties.keyPrefix(), properties.keyHash());
            layers.channel.ifAvailable(channel -> {
                BucketMessages messages = new BucketMessages(channel, BucketMessages.RELEASED);
                store.onAwaitedRelease(charge -> messages.send(charge.limit(), charge.key()));
            });
            store.onLostPermits(layers.instrumented.lostPermits());
            store.onLostSettlement(layers.instrumented.lostSettlements());
            return store;
        }
    }

    /**
     * What the stores of all servers have in common.
     *
     * @param local decides while a server fails
     */
    public record Layers(
            StoreInstrumentation instrumented,
            RateLimitStore local,
            RejectionCache rejections,
            RateLimitEventPublisher events,
            ObjectProvider<ChangeChannel> channel) {

        RateLimitStore rememberingRejections(RateLimitStore store) {
            return new RejectionCachingRateLimitStore(store, instrumented.cachedRejections(), rejections);
        }
    }
}
