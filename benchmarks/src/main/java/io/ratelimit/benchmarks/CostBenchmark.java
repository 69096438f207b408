package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.redis.EmbeddedRedis;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.redis.RedisLoad;
import io.ratelimit.benchmarks.results.CostTable;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Samples;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * What a decision in Redis costs in production terms: bytes on the wire, processor time of Redis and of the client, allocations.
 * Each library runs in three {@linkplain CostWorker processes}, with 10,000 keys. They take turns: one process with 1, 32 and 400
 * callers, and all three of a library with 32 callers each and 20,000 calls a second together. Prints the table of
 * benchmarks/README.md. For Linux: see {@link ProcessorTime}.
 *
 * <p>After {@code ./mvnw package -pl benchmarks -am -DskipTests}, with the number of rounds and the seconds of a turn:
 * {@code java -cp benchmarks/target/benchmarks.jar io.ratelimit.benchmarks.CostBenchmark 5 4}
 */
public final class CostBenchmark {

    private static final int PROCESSES = 3;

    private static final List<Workload> WORKLOADS = List.of(
            new Workload("1 caller", 1, 1, 0),
            new Workload("32 callers", 1, 32, 0),
            new Workload("400 callers", 1, 400, 0),
            new Workload("20,000 a second", PROCESSES, 32, 20_000 / PROCESSES));

    /** So many rounds do not count. */
    private static final int WARM_UPS = 3;

    private CostBenchmark() {}

    public static void main(String[] args) throws IOException {
        int rounds = Integer.parseInt(args[0]);
        String millis = args[1] + "000";
        List<Worker> workers = new ArrayList<>();
        Samples samples = new Samples();
        try (EmbeddedRedis redis = new EmbeddedRedis();
                RedisConsole console = new RedisConsole(List.of(redis.address()))) {
            for (int i = 0; i < CostWorker.LIBRARIES.size() * PROCESSES; i++) {
                workers.add(new Worker(i / PROCESSES, redis.address().jvmArgument()));
            }
            for (int round = -WARM_UPS; round < rounds; round++) {
                for (Workload workload : WORKLOADS) {
                    for (int i = 0; i < workers.size(); i += PROCESSES) {
                        String library = CostWorker.LIBRARIES.get(i / PROCESSES);
                        List<Worker> turn = workers.subList(i, i + workload.processes);
                        workload.play(library, turn, millis, console, round < 0 ? new Samples() : samples);
                    }
                }
            }
            System.out.println(Machine.describe(console.version()));
        } finally {
            workers.forEach(worker -> worker.process.destroy());
        }
        System.out.println(
                CostTable.of(samples, WORKLOADS.stream().map(Workload::name).toList(), CostWorker.LIBRARIES));
    }

    /** @param perSecond calls of each process; 0: as many as possible */
    private record Workload(String name, int processes, int callers, int perSecond) {

        void play(String library, List<Worker> workers, String millis, RedisConsole console, Samples samples)
                throws IOException {
            double client = clientMicros(workers);
            RedisLoad before = console.load();
            long start = System.nanoTime();
            workers.forEach(worker -> worker.input.println(callers + " " + perSecond + " " + millis));
            double calls = 0;
            double allocated = 0;
            for (Worker worker : workers) {
                String[] answer = worker.answer().split(" ", -1);
                calls += Long.parseLong(answer[0]);
                allocated += Long.parseLong(answer[1]);
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            RedisLoad redis = console.load().since(before);
            samples.add(new Finding(name, library, Measure.CALLS, calls / seconds));
            samples.add(new Finding(name, library, Measure.BYTES_TO_REDIS, redis.received() / calls));
            samples.add(new Finding(name, library, Measure.BYTES_FROM_REDIS, redis.sent() / calls));
            samples.add(new Finding(name, library, Measure.CPU_MICROS, redis.cpuMicros() / calls));
            samples.add(new Finding(name, library, Measure.CLIENT_MICROS, (clientMicros(workers) - client) / calls));
            samples.add(new Finding(name, library, Measure.ALLOCATED, allocated / calls));
        }

        private static double clientMicros(List<Worker> workers) throws IOException {
            double micros = 0;
            for (Worker worker : workers) {
                micros += ProcessorTime.micros(worker.process);
            }
            return micros;
        }
    }

    private static final class Worker {

        private final Process process;

        private final PrintWriter input;

        private final BufferedReader output;

        Worker(int library, String redis) throws IOException {
            this.process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElse("java"),
                            "-Xmx256m",
                            redis,
                            "-cp",
                            System.getProperty("java.class.path"),
                            CostWorker.class.getName(),
                            Integer.toString(library),
                            "Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            this.input = new PrintWriter(process.outputWriter(), true);
            this.output = process.inputReader();
            var unused = answer();
        }

        /** Returns what the process has answered to the last line of its input; at the start, nothing. */
        String answer() throws IOException {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.startsWith(CostWorker.ANSWER)) {
                    return line.substring(CostWorker.ANSWER.length());
                }
            }
            throw new IllegalStateException("The process has ended");
        }
    }
}
