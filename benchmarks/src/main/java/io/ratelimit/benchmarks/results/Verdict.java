package io.ratelimit.benchmarks.results;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which library is ahead in a row.
 *
 * @param best the best of the other libraries, by its column
 * @param factor how many times as good this starter is as the best of them
 * @param level whether the middle halves of both overlap, so that another run may say otherwise
 */
record Verdict(String best, double factor, boolean level) {

    /** Empty if there is nothing to compare with. */
    static Optional<Verdict> of(Row row, Samples samples) {
        Comparator<Quartiles> ascending = Comparator.comparing(Quartiles::median);
        Comparator<Quartiles> better = row.measure().lessIsBetter() ? ascending : ascending.reversed();
        Map<String, Quartiles> peers = new LinkedHashMap<>();
        row.peers()
                .forEach(peer -> samples.quartiles(row.workload(), peer, row.measure())
                        .ifPresent(found -> peers.put(peer, found)));
        return samples.quartiles(row.workload(), row.contestant(), row.measure())
                .flatMap(found -> peers.entrySet().stream()
                        .min(Map.Entry.comparingByValue(better))
                        .map(best -> of(row, best.getKey(), found, best.getValue())));
    }

    private static Verdict of(Row row, String best, Quartiles one, Quartiles other) {
        double factor = row.measure().lessIsBetter() ? other.median() / one.median() : one.median() / other.median();
        boolean level = one.lower() <= other.upper() && other.lower() <= one.upper();
        return new Verdict(Row.column(best), factor, level);
    }

    boolean isAhead() {
        return !level && factor > 1;
    }

    boolean isBehind() {
        return !level && factor <= 1;
    }

    /** As it stands in a table. */
    String text() {
        if (level) {
            return "level with " + best;
        }
        return isAhead()
                ? "this starter, %s×".formatted(Numbers.format(factor))
                : "%s, %s×".formatted(best, Numbers.format(1 / factor));
    }
}
