package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Ends requests in each way, on each container and for each kind of handler. Afterwards, none of them holds permits,
 * and each call is settled once.
 */
class ContainerTests {

    /** How many for each handler and end, half of them with a limit in Redis, half with one in memory. */
    private static final int REQUESTS = Integer.getInteger("acceptance.requests", 40);

    private static final int AT_ONCE = 64;

    private static final String ASYNC_TIMEOUT = "1s";

    /** From the last response on. The limits hold for 3 s, and Tomcat looks for asynchronous timeouts once a second. */
    private static final Duration RELEASED_WITHIN = Duration.ofSeconds(60);

    private static final long CAPACITY = 1_000_000;

    private static final List<String> SERVLET =
            List.of("plain", "emitter", "swallowing", "body", "deferred", "callable", "flux");

    private static final List<String> REACTIVE = List.of("plain", "flux");

    static List<Container> containers() {
        List<Container> containers = new ArrayList<>();
        containers.add(new Container("Tomcat", "servlet", SERVLET));
        containers.add(new Container("Jetty", "jetty", SERVLET));
        if (Files.exists(Path.of(System.getProperty("acceptance.directory"), "undertow", "target", "undertow-1.jar"))) {
            containers.add(new Container("Undertow", "undertow", SERVLET));
        }
        containers.add(new Container("Netty", "reactive", REACTIVE));
        return containers;
    }

    @ParameterizedTest
    @MethodSource("containers")
    void nothingIsHeldAndEachCallIsSettled(Container container) throws Exception {
        List<Cell> cells = container.cells();
        Application application = container.start();
        try {
            warmUp(application, container);
            long begin = System.nanoTime();
            run(requests(application.port(), cells));
            List<Row> rows = settled(application, cells);
            String table = Row.HEADER + rows.stream().map(Row::toString).collect(Collectors.joining());
            long seconds = Duration.ofNanos(System.nanoTime() - begin).toSeconds();
            System.out.printf("%n%s, %,d requests in each row, %d s%n%s", container, REQUESTS, seconds, table);
            assertThat(rows).as(table).allMatch(Row::isAsItShouldBe);
        } finally {
            application.stop();
        }
    }

    /** A server that has just started answers too late for a client that goes early. */
    private static void warmUp(Application application, Container container) {
        container.handlers().forEach(handler -> {
            application.allowed("/ends/shared/" + handler + "/warm-up");
            application.allowed("/ends/instance/" + handler + "/warm-up");
        });
    }

    /** In a drawn order, because what one request leaves behind may concern another. */
    private static List<Callable<Void>> requests(int port, List<Cell> cells) {
        Random random = new Random(42);
        List<Callable<Void>> requests = new ArrayList<>();
        for (Cell cell : cells) {
            for (int i = 0; i < REQUESTS; i++) {
                String path = "/ends/" + (i % 2 == 0 ? "shared/" : "instance/") + cell.handler() + '/' + cell.key();
                Duration stay = stay(i / 2 % 3, random);
                requests.add(() -> {
                    if (!cell.end().request(port, path, stay)) {
                        cell.endless().incrementAndGet();
                    }
                    return null;
                });
            }
        }
        Collections.shuffle(requests, random);
        return requests;
    }

    /** While permits are being acquired, or at any time, or when the response begins, so that some are admitted. */
    private static Duration stay(int third, Random random) {
        return third == 2 ? null : Duration.ofMillis(1 + random.nextInt(third == 0 ? 3 : 200));
    }

    private static void run(List<Callable<Void>> requests) throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(AT_ONCE);
        try {
            for (Future<Void> response : clients.invokeAll(requests)) {
                response.get();
            }
        } finally {
            clients.shutdownNow();
        }
    }

    /** Returns what is left of the cells' requests when nothing is, or when the time is over. */
    private static List<Row> settled(Application application, List<Cell> cells) {
        List<Cell> pending = new ArrayList<>(cells);
        try {
            Awaitility.await()
                    .atMost(RELEASED_WITHIN)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> {
                        pending.removeIf(cell -> Row.of(cell, application).isAsItShouldBe());
                        return pending.isEmpty();
                    });
        } catch (ConditionTimeoutException ex) {
            // The rows tell.
        }
        return cells.stream().map(cell -> Row.of(cell, application)).toList();
    }

    private record Container(String name, String module, List<String> handlers) {

        Application start() {
            return Application.start(
                    module,
                    Stream.concat(
                                    Stream.of(Application.redis().properties()),
                                    Stream.of(
                                            "spring.mvc.async.request-timeout=" + ASYNC_TIMEOUT,
                                            // No handler waits for a thread.
                                            "spring.task.execution.pool.core-size=" + AT_ONCE))
                            .toArray(String[]::new))
                    .overHttp1();
        }

        /** A plain response has no timeout, and a reactive server has none. */
        List<Cell> cells() {
            return handlers.stream()
                    .flatMap(handler -> Stream.of(ClientEnd.values())
                            .filter(end -> end != ClientEnd.TIMEOUT
                                    || !handler.equals("plain") && handlers.equals(SERVLET))
                            .map(end -> new Cell(name, handler, end, new AtomicInteger())))
                    .toList();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** @param endless how many clients the server has left without the end of a response */
    private record Cell(String container, String handler, ClientEnd end, AtomicInteger endless) {

        String key() {
            return container + '-' + handler + '-' + end;
        }

        /** Returns whether the server cancels the calls. Their end may tell the cost, or not. */
        boolean isCancelled() {
            return handler.equals("callable") && end == ClientEnd.TIMEOUT;
        }

        /** Publishers have a limit whose costs a collector knows. */
        boolean isCollected() {
            return handler.equals("flux") || container.equals("Netty");
        }
    }

    /**
     * What is left of the requests of a cell.
     *
     * @param unsettled the calls that are to be settled and were not; negative if more were than were admitted
     * @param charged more or less than the calls have cost
     */
    private record Row(
            Cell cell,
            long admitted,
            long settled,
            long heldInRedis,
            long heldInMemory,
            long unsettled,
            long charged) {

        private static final String HEADER = "| container | handler    | end         | admitted | settled |"
                + " held: Redis | memory | not settled | charged | no response |\n"
                + "|---|---|---|---|---|---|---|---|---|---|\n";

        static Row of(Cell cell, Application application) {
            DocumentContext calls =
                    JsonPath.parse(application.allowed("/calls/" + cell.key()).body());
            long admitted = calls.read("$.admitted", Long.class);
            long settled = calls.read("$.settled", Long.class);
            long used = used(application, cell.isCollected() ? "ends-collected" : "ends", cell);
            // A call is charged one permit, and two more when it is settled.
            long charged = used - admitted - 2 * settled;
            // A publisher that is cancelled before it is subscribed has been charged.
            long early = cell.isCollected() ? Math.min(Math.max(charged, 0), REQUESTS - admitted) : 0;
            return new Row(
                    cell,
                    admitted,
                    settled,
                    used(application, "ends-shared", cell),
                    used(application, "ends-instance", cell),
                    unsettled(admitted, calls.read("$.toSettle", Long.class), settled),
                    charged - early);
        }

        /** The end of a call that is cancelled may tell its cost, or not. */
        private static long unsettled(long admitted, long toSettle, long settled) {
            return settled < toSettle ? toSettle - settled : Math.min(0, admitted - settled);
        }

        private static long used(Application application, String limit, Cell cell) {
            String path = "/actuator/ratelimits/" + limit + "?key=" + cell.key();
            return CAPACITY - application.<Number>json(path, "$.remaining").longValue();
        }

        boolean isAsItShouldBe() {
            return admitted > 0
                    && (settled > 0 || cell.isCancelled())
                    && heldInRedis == 0
                    && heldInMemory == 0
                    && unsettled == 0
                    && charged == 0;
        }

        @Override
        public String toString() {
            return String.format(
                    "| %-9s | %-10s | %-11s | %,8d | %,7d | %,11d | %,6d | %,11d | %+,7d | %,11d |%s\n",
                    cell.container(),
                    cell.handler(),
                    cell.end(),
                    admitted,
                    settled,
                    heldInRedis,
                    heldInMemory,
                    unsettled,
                    charged,
                    cell.endless().get(),
                    isAsItShouldBe() ? "" : " <--");
        }
    }
}
