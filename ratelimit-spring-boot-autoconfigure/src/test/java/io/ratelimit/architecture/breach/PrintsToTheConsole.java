package io.ratelimit.architecture.breach;

/** Logs should tell it. */
public class PrintsToTheConsole {

    void print() {
        System.out.println("breach");
    }
}
