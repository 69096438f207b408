package io.ratelimit.benchmarks;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The processor time of a process on Linux, without that of the JIT compilers and of threads that have ended. */
final class ProcessorTime {

    /** What the kernel counts processor time in. */
    private static final double MICROS_OF_A_TICK = 10_000;

    private ProcessorTime() {}

    static double micros(Process process) throws IOException {
        long ticks = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path thread : threads) {
                ticks += ticksOf(thread);
            }
        }
        return ticks * MICROS_OF_A_TICK;
    }

    private static long ticksOf(Path thread) throws IOException {
        try {
            return ticks(Files.readString(thread.resolve("stat")));
        } catch (NoSuchFileException ended) {
            return 0;
        }
    }

    /** Returns the ticks in a line of {@code /proc}, none for a compiler. A thread's name may contain anything. */
    static long ticks(String stat) {
        String threadName = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
        if (threadName.startsWith("C1 Comp") || threadName.startsWith("C2 Comp")) {
            return 0;
        }
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
}
