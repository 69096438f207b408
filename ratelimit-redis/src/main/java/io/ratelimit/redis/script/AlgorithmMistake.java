package io.ratelimit.redis.script;

import io.ratelimit.internal.store.AlgorithmFailureException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a script says of an algorithm of the application that fails, see {@code own_algorithms.lua}.
 *
 * @param algorithm its name, as scripts know it
 * @param what is wrong
 */
public record AlgorithmMistake(String algorithm, String what) {

    private static final Pattern TEXT = Pattern.compile("(?s)(\\w+): (.*)");

    private static final Pattern ERROR = Pattern.compile("RATELIMIT_ALGORITHM (?=\\w+: )");

    /** Reads the text of a reply. */
    static AlgorithmMistake of(String text) {
        Matcher words = TEXT.matcher(text);
        return words.matches()
                ? new AlgorithmMistake(words.group(1), words.group(2))
                : new AlgorithmMistake("unknown", text);
    }

    /** Reads the message of an error reply, or returns {@code null} if that is about something else. */
    public static @Nullable AlgorithmMistake ofError(String message) {
        Matcher beginning = ERROR.matcher(message);
        return beginning.find() ? of(message.substring(beginning.end())) : null;
    }

    /**
     * Creates the exception that calls get.
     *
     * @param server the beginning of the message
     */
    public AlgorithmFailureException failure(String server, @Nullable Throwable cause) {
        return new AlgorithmFailureException(server + ": ", algorithm, what, cause);
    }
}
