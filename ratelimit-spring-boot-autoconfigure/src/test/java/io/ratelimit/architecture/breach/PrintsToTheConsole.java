package io.ratelimit.architecture.breach;

/** Whoever wants to say something logs it. */
public class PrintsToTheConsole {

    void print() {
        System.out.println("breach");
    }
}
