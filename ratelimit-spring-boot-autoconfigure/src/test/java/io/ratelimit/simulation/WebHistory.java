package io.ratelimit.simulation;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.autoconfigure.SimulatedProperties;
import io.ratelimit.internal.change.SimulatedOverrides;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import jakarta.servlet.DispatcherType;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import reactor.core.Disposable;
import reactor.core.publisher.Sinks;

/** What happens to the requests of a simulated web application, by a container that may not tell how they end. */
final class WebHistory {

    private static final String POOL = "pool";

    private static final String BUCKET = "shared pool";

    static final long TIMEOUT = 10_000;

    /** A container that tells of no end may be found out so late: after its timeout and the starter's own patience. */
    static final Duration GRACE = Duration.ofSeconds(50);

    /** What the limits of these requests can have. */
    static final Set<Feature> FEATURES = EnumSet.of(Feature.CONCURRENCY, Feature.PERMITS_AFTER);

    private final Random random;

    private final Coverage coverage;

    private final SimulatedTime time = new SimulatedTime();

    private final Model model = new Model(time::micros);

    private final SimulatedInstance instance;

    private final SimulatedContainer container;

    private final EmitterEvents emitters;

    private final ChosenPermits chosen;

    private final List<SimulatedRequest> requests = new ArrayList<>();

    private final List<Exchange> exchanges = new ArrayList<>();

    private final List<String> log = new ArrayList<>();

    /** The kinds of events of this history: a few, so that each meets each other one often. */
    private final List<Kind> kinds;

    private enum Kind {
        PLAIN,
        ASYNC,
        COMPLETE,
        DISCONNECT,
        FORWARD,
        EXCHANGE,
        EXCHANGE_ENDS,
        CANCELLED_EXCHANGE,
        CHOSEN_PERMITS,
        EMITTER,
        TIME
    }

    private record Exchange(Disposable subscription, Sinks.Empty<Void> response, Take take) {}

    WebHistory(long seed, Coverage coverage) {
        this.random = new Random(seed);
        this.coverage = coverage;
        int capacity = 1 + random.nextInt(3);
        List<Kind> all = new ArrayList<>(List.of(Kind.values()));
        java.util.Collections.shuffle(all, random);
        this.kinds = new ArrayList<>(all.subList(0, 3 + random.nextInt(4)));
        kinds.add(Kind.TIME);
        note("capacity " + capacity + ", " + kinds);
        RateLimitSettings settings = SimulatedProperties.settings(
                Map.of(
                        "ratelimit.limits.pool.algorithm", "concurrency",
                        "ratelimit.limits.pool.capacity", "" + capacity,
                        "ratelimit.limits.pool.hold", "3s",
                        "ratelimit.limits.pages.rate", "1000/s",
                        "ratelimit.limits.pages.permits", "#pages"),
                Map.of());
        this.instance = SimulatedInstance.inMemory(
                "i0", time, time::micros, settings, SimulatedOverrides.ofThisInstance(time::micros));
        this.container = new SimulatedContainer(
                instance,
                time,
                List.of(SimulatedContainer.rule("/pool/**", POOL), SimulatedContainer.rule("/pages/{pages}", "pages")));
        this.emitters = new EmitterEvents(random, time, container, this::note);
        this.chosen = new ChosenPermits(random, container, this::note);
    }

    void play(int events) throws Exception {
        for (int i = 0; i < events; i++) {
            event();
            inspect();
        }
        note("all requests end");
        for (SimulatedRequest request : List.copyOf(requests)) {
            complete(request);
        }
        for (Exchange exchange : List.copyOf(exchanges)) {
            end(exchange, false);
        }
        pass(GRACE);
        pass(GRACE);
        inspect();
        instance.stop();
    }

    private void event() throws Exception {
        switch (kinds.get(random.nextInt(kinds.size()))) {
            case PLAIN -> request(false);
            case ASYNC -> request(true);
            case COMPLETE -> pick(requests, this::complete);
            case DISCONNECT -> pick(requests, this::disconnect);
            case FORWARD -> forward();
            case EXCHANGE -> exchange(false);
            case EXCHANGE_ENDS -> pick(exchanges, exchange -> end(exchange, random.nextBoolean()));
            case CANCELLED_EXCHANGE -> exchange(true);
            case CHOSEN_PERMITS -> chosen.request();
            case EMITTER -> emitters.begin();
            case TIME -> pass(random.nextInt(6) == 0 ? GRACE : Duration.ofMillis(random.nextInt(5_000)));
        }
    }

    private <T> void pick(List<T> some, java.util.function.Consumer<T> action) {
        if (!some.isEmpty()) {
            action.accept(some.get(random.nextInt(some.size())));
        }
    }

    private Take ask() {
        return model.ask(BUCKET, SimulatedInstance.numbers(instance.limit(POOL, null)), 1, "i0");
    }

    private void decided(Take take, boolean admitted) {
        if (admitted) {
            model.admitted(take);
        } else {
            model.rejectedBy(take);
            model.notTaken(take);
        }
    }

    /** A request that a rule limits; its response is complete when its thread returns, or later. */
    private void request(boolean async) throws Exception {
        SimulatedRequest request = new SimulatedRequest("/pool/a");
        Take take = ask();
        boolean[] admitted = {false};
        container.dispatch(request, DispatcherType.REQUEST, () -> {
            admitted[0] = true;
            model.admitted(take);
            if (async) {
                startAsync(request);
            }
        });
        note((async ? "an asynchronous request is " : "a request is ") + (admitted[0] ? "admitted" : "rejected"));
        if (!admitted[0]) {
            decided(take, false);
        } else if (async) {
            coverage.visit(FEATURES, Event.DISPATCH);
            request.held.add(take);
            requests.add(request);
        } else {
            model.ended(take, 0);
        }
    }

    /** A handler forwards to another one of the same limit, after its own call has ended. */
    private void forward() throws Exception {
        SimulatedRequest request = new SimulatedRequest("/other");
        note("a request is forwarded");
        coverage.visit(FEATURES, Event.DISPATCH);
        container.dispatch(request, DispatcherType.REQUEST, () -> {
            if (call()) {
                boolean[] others = {random.nextBoolean()};
                if (others[0]) {
                    SimulatedRequest other = new SimulatedRequest("/pool/b");
                    Take take = ask();
                    container.dispatch(other, DispatcherType.REQUEST, () -> {
                        note("  another request holds a permit meanwhile");
                        model.admitted(take);
                        startAsync(other);
                        other.held.add(take);
                        requests.add(other);
                    });
                    if (!other.held.contains(take)) {
                        decided(take, false);
                    }
                }
                org.springframework.web.context.request.RequestContextHolder.setRequestAttributes(
                        new org.springframework.web.context.request.ServletRequestAttributes(request));
                request.setRequestURI("/forwarded");
                request.setDispatcherType(random.nextBoolean() ? DispatcherType.FORWARD : DispatcherType.ERROR);
                var unused = call();
            }
        });
    }

    /** Calls an annotated method, which returns at once. */
    private boolean call() {
        RateLimit limit = instance.limit(POOL, null);
        Take take = ask();
        try {
            Settlement settlement = container.call(new Charge(limit, null, 1));
            note("  a call runs" + (settlement == null ? ", paid already" : ""));
            model.admitted(take);
            if (settlement != null) {
                settlement.release();
            }
            model.ended(take, 0);
            return true;
        } catch (RateLimitExceededException ex) {
            note("  a call is rejected");
            decided(take, false);
            return false;
        }
    }

    private void complete(SimulatedRequest request) {
        note("a response is complete");
        requests.remove(request);
        request.complete();
        request.held.forEach(take -> model.ended(take, 0));
    }

    /** The client goes, and the container says nothing. */
    private void disconnect(SimulatedRequest request) {
        note("a client disconnects, and the container does not tell");
        coverage.visit(FEATURES, Event.DISCONNECT);
        requests.remove(request);
        request.disconnect();
        request.recycle();
        request.held.forEach(take -> model.ended(take, GRACE.toNanos() / 1_000));
    }

    /** A reactive request. */
    private void exchange(boolean cancelled) {
        Take take = ask();
        Sinks.Empty<Void> response = Sinks.empty();
        boolean[] admitted = {false};
        Disposable[] subscription = new Disposable[1];
        reactor.core.publisher.Mono<Void> handled = response.asMono().doOnSubscribe(started -> {
            admitted[0] = true;
            model.admitted(take);
        });
        if (cancelled) {
            note("a reactive request is cancelled while its decision is under way");
            coverage.visit(FEATURES, Event.CANCEL);
            Sinks.One<String> earlier = Sinks.one();
            subscription[0] = earlier.asMono()
                    .flatMap(go -> container.filter("/pool/a", handled))
                    .subscribe(done -> {}, failure -> {});
            instance.whileDeciding(subscription[0]::dispose);
            var unused = earlier.tryEmitValue("go");
            instance.whileDeciding(() -> {});
            if (admitted[0]) {
                model.ended(take, 0);
            } else {
                model.notTaken(take);
            }
            return;
        }
        subscription[0] = container.filter("/pool/a", handled).subscribe(done -> {}, failure -> {});
        note("a reactive request is " + (admitted[0] ? "admitted" : "rejected"));
        if (admitted[0]) {
            exchanges.add(new Exchange(subscription[0], response, take));
        } else {
            decided(take, false);
        }
    }

    private void end(Exchange exchange, boolean cancelled) {
        note("a reactive request " + (cancelled ? "is cancelled" : "is complete"));
        exchanges.remove(exchange);
        if (cancelled) {
            coverage.visit(FEATURES, Event.CANCEL);
            exchange.subscription.dispose();
        } else {
            var unused = exchange.response.tryEmitEmpty();
        }
        model.ended(exchange.take, 0);
    }

    private void pass(Duration some) {
        note(some + " pass");
        long until = time.micros() + some.toNanos() / 1_000;
        while (!requests.isEmpty() && requests.get(0).timesOutAt <= until) {
            // The first one has waited for the longest time.
            passUntil(requests.get(0).timesOutAt);
            note("a request times out");
            complete(requests.get(0));
        }
        passUntil(until);
    }

    private void passUntil(long micros) {
        time.pass(Duration.of(Math.max(0, micros - time.micros()), ChronoUnit.MICROS));
        model.pass();
    }

    private void startAsync(SimulatedRequest request) {
        request.startAsync().setTimeout(TIMEOUT);
        request.timesOutAt = time.micros() + TIMEOUT * 1_000;
    }

    private void inspect() {
        model.pass();
        model.inspections.remaining(
                BUCKET,
                SimulatedInstance.numbers(instance.limit(POOL, null)),
                instance.inspect(POOL, null).remaining());
        emitters.check();
    }

    private void note(String what) {
        log.add(time.nanos() / 1_000_000 + " ms: " + what);
    }

    String last(int number) {
        return String.join("\n", log.subList(Math.max(0, log.size() - Math.min(number, log.size())), log.size()));
    }
}
