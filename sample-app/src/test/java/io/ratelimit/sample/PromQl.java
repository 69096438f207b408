package io.ratelimit.sample;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads from an expression of Prometheus what it names. Not a parser: enough for expressions without label names or metrics in
 * unusual places.
 *
 * @param matchers for each metric the labels that it is selected by, with their values; {@code null} for a pattern
 * @param grouping the labels of the result
 */
record PromQl(Map<String, Map<String, String>> matchers, Set<String> grouping) {

    private static final Pattern SELECTOR = Pattern.compile("([a-zA-Z_:][\\w:]*)\\s*\\{([^}]*)}");

    private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(=~|!~|!=|=)\\s*\"([^\"]*)\"");

    private static final Pattern GROUPING =
            Pattern.compile("\\b(?:by|without|on|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");

    private static final Pattern NAME = Pattern.compile("\\b[a-zA-Z_:][\\w:]*\\b(?!\\s*\\()");

    private static final Set<String> WORDS = Set.of("and", "or", "unless", "bool", "offset");

    static PromQl read(String expression) {
        Map<String, Map<String, String>> matchers = new HashMap<>();
        Matcher selector = SELECTOR.matcher(expression);
        while (selector.find()) {
            Map<String, String> labels = matchers.computeIfAbsent(selector.group(1), metric -> new HashMap<>());
            MATCHER.matcher(selector.group(2))
                    .results()
                    .forEach(label -> labels.put(
                            label.group(1),
                            label.group(2).equals("=") && !label.group(3).startsWith("$") ? label.group(3) : null));
        }
        String rest = expression.replaceAll("\\{[^}]*}", "").replaceAll("\\[[^]]*]", "");
        Set<String> grouping = new HashSet<>();
        GROUPING.matcher(rest).results().forEach(clause -> {
            for (String label : clause.group(1).split(",", -1)) {
                grouping.add(label.strip());
            }
        });
        NAME.matcher(GROUPING.matcher(rest).replaceAll(""))
                .results()
                .map(name -> name.group())
                .filter(name -> !WORDS.contains(name))
                .forEach(metric -> matchers.computeIfAbsent(metric, unlabelled -> new HashMap<>()));
        return new PromQl(matchers, grouping);
    }
}
