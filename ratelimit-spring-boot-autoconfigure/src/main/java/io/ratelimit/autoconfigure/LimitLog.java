package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.expression.ChargeDescription;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Describes a limit, its key and where it applies, in one line of the start-up log. */
final class LimitLog {

    /** The number of places that a line names. More are summarized; the endpoint and the debug level name all. */
    private static final int MOST_PLACES = 3;

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private LimitLog() {}

    /**
     * Describes a limit.
     *
     * @param methods the methods that it limits, and what a call of each is charged
     * @param requests the requests that it limits, and what each is charged
     */
    static String describe(
            RateLimit limit, Map<String, ChargeDescription> methods, Map<String, ChargeDescription> requests) {
        String line = "Rate limit '" + limit.name() + "': " + limit;
        if (methods.isEmpty() && requests.isEmpty()) {
            return line;
        }
        if (methods.size() > MOST_PLACES || requests.size() > MOST_PLACES) {
            logger.log(
                    Level.DEBUG,
                    "Rate limit '" + limit.name() + "' applies to "
                            + Stream.concat(methods.keySet().stream(), requests.keySet().stream())
                                    .collect(Collectors.joining(", ")));
        }
        String keys = Stream.concat(methods.values().stream(), requests.values().stream())
                .map(ChargeDescription::key)
                .distinct()
                .collect(Collectors.joining(" or "));
        String places = Stream.of(ofMethods(methods.keySet()), first(List.copyOf(requests.keySet())))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return line + ", key " + keys + ", on " + places;
    }

    private static String ofMethods(Set<String> methods) {
        if (methods.size() <= MOST_PLACES) {
            return String.join(", ", methods);
        }
        List<String> types = methods.stream()
                .map(method -> method.replaceFirst("\\.[^.]*\\(.*", ""))
                .distinct()
                .toList();
        return methods.size() + " methods of " + first(types);
    }

    private static String first(List<String> names) {
        return names.size() <= MOST_PLACES
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, MOST_PLACES)) + " and " + (names.size() - MOST_PLACES) + " more";
    }
}
