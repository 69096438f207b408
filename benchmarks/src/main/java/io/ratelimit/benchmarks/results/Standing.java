package io.ratelimit.benchmarks.results;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sentence of the README that counts the rows in which this starter is ahead of other libraries, taken from the results. */
public final class Standing {

    private static final Pattern COUNTED = Pattern.compile("Of (\\d+) rows with another library, this starter is"
            + " ahead in (\\d+), level in (\\d+) and behind in (\\d+)\\.");

    private static final Pattern SENTENCE =
            Pattern.compile("ahead in \\d+ of \\d+ rows, level in \\d+ and behind in \\d+");

    private Standing() {}

    /**
     * Returns the text of the README with the sentence of these results.
     *
     * @throws IllegalArgumentException if one of the texts has no such sentence
     */
    public static String update(String readme, String results) {
        Matcher counted = COUNTED.matcher(results);
        Matcher sentence = SENTENCE.matcher(readme);
        if (!counted.find() || !sentence.find()) {
            throw new IllegalArgumentException(
                    "There is no sentence '" + (counted.reset().find() ? SENTENCE : COUNTED) + "'");
        }
        return sentence.replaceFirst("ahead in %s of %s rows, level in %s and behind in %s"
                .formatted(counted.group(2), counted.group(1), counted.group(3), counted.group(4)));
    }
}
