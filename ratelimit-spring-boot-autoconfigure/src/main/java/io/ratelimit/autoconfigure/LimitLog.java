package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.aop.LimitedBeans.LimitedMethodRecord;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;

/** Describes a limit, its key and where it applies, in one line of the log. */
final class LimitLog {

    /** More places than these are summed up. The endpoint and the debug level name all of them. */
    private static final int MOST_PLACES = 3;

    private final Log logger;

    LimitLog(Log logger) {
        this.logger = logger;
    }

    /**
     * Describes a limit.
     *
     * @param methods those that it limits
     * @param requests those that it limits
     * @param requestKey the key expression of its requests
     */
    String describe(RateLimit limit, List<LimitedMethodRecord> methods, List<String> requests, String requestKey) {
        String line = "Rate limit '" + limit.name() + "': " + limit;
        if (methods.isEmpty() && requests.isEmpty()) {
            return line;
        }
        if (methods.size() > MOST_PLACES || requests.size() > MOST_PLACES) {
            logger.debug("Rate limit '" + limit.name() + "' applies to "
                    + Stream.concat(methods.stream().map(LimitedMethodRecord::method), requests.stream())
                            .collect(Collectors.joining(", ")));
        }
        String keys = Stream.concat(
                        methods.stream().map(method -> method.keys().get(limit.name())),
                        requests.stream().map(request -> requestKey))
                .distinct()
                .collect(Collectors.joining(" or "));
        String places = Stream.of(ofMethods(methods), first(requests))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return line + ", key " + keys + ", on " + places;
    }

    private static String ofMethods(List<LimitedMethodRecord> methods) {
        if (methods.size() <= MOST_PLACES) {
            return methods.stream().map(LimitedMethodRecord::method).collect(Collectors.joining(", "));
        }
        List<String> types =
                methods.stream().map(LimitedMethodRecord::type).distinct().toList();
        return methods.size() + " methods of " + first(types);
    }

    private static String first(List<String> names) {
        return names.size() <= MOST_PLACES
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, MOST_PLACES)) + " and " + (names.size() - MOST_PLACES) + " more";
    }
}
