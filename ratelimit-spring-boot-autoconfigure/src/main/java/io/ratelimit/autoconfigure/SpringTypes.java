package io.ratelimit.autoconfigure;

/** Tells classes of Spring from those of applications. */
final class SpringTypes {

    private static final String SPRING = "org.springframework.";

    /** Petclinic is an application in a package of Spring. */
    private static final String SAMPLES = SPRING + "samples.";

    private SpringTypes() {}

    static boolean contain(Class<?> type) {
        String name = type.getName();
        return name.startsWith(SPRING) && !name.startsWith(SAMPLES);
    }
}
