package io.ratelimit.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A JVM of its own that answers every line of the test with one. It ends with the test, or is killed. */
public final class ChildJvm implements AutoCloseable {

    private final Path log;

    private final Process process;

    private final PrintWriter lines;

    private final BufferedReader answers;

    private ChildJvm(Path log, Process process) {
        this.log = log;
        this.process = process;
        this.lines = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.answers = reader(process.getInputStream());
    }

    private static BufferedReader reader(InputStream in) {
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    }

    /**
     * Starts one.
     *
     * @param main calls {@link #answerAll}
     * @param log receives what is logged
     * @param options of the JVM
     */
    public static ChildJvm start(Class<?> main, Path log, List<String> options, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ChildJvm(
                log, new ProcessBuilder(command).redirectError(log.toFile()).start());
    }

    /** Answers the lines of the test until it ends. What is printed or logged goes elsewhere. */
    public static void answerAll(UnaryOperator<String> answer) throws IOException {
        PrintStream out = System.out;
        System.setOut(System.err);
        BufferedReader in = reader(System.in);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer.apply(line));
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Sends a line, and waits for the answer. */
    public String ask(String line) {
        tell(line);
        return answer();
    }

    /** Sends a line, also while the process is stopped. */
    public void tell(String line) {
        lines.println(line);
    }

    /** Waits for an answer. */
    public String answer() {
        try {
            String answer = answers.readLine();
            if (answer == null) {
                throw new AssertionError("The process has ended: " + log());
            }
            return answer;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Stops the process, with all of its threads: its connections stay. */
    public void stop() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** Lets it go on. */
    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        int status = new ProcessBuilder("kill", "-" + name, "" + process.pid())
                .inheritIO()
                .start()
                .waitFor();
        if (status != 0) {
            throw new AssertionError("No signal could be sent: " + log());
        }
    }

    /** Kills it as the operating system does: nothing of it runs any more. */
    public void kill() throws InterruptedException {
        var unused = process.destroyForcibly().waitFor();
    }

    /** Returns what it has logged. */
    public String log() {
        try {
            return Files.readString(log);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
