package io.ratelimit.benchmarks.results;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What was found of all contestants of one line, round by round. */
public final class Samples {

    private final Map<String, Map<Measure, List<Double>>> values = new HashMap<>();

    public void add(Finding finding) {
        values.computeIfAbsent(finding.contestant(), name -> new EnumMap<>(Measure.class))
                .computeIfAbsent(finding.measure(), measure -> new ArrayList<>())
                .add(finding.value());
    }

    /** The floor, this starter, then the other libraries. */
    public List<String> contestants() {
        return values.keySet().stream()
                .sorted(Comparator.comparing(Samples::group).thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    private static int group(String contestant) {
        if (contestant.endsWith("(floor)")) {
            return 0;
        }
        return contestant.startsWith("this starter") ? 1 : 2;
    }

    /** Empty if this was not measured. */
    public Optional<Quartiles> quartiles(String contestant, Measure measure) {
        return Optional.ofNullable(values.getOrDefault(contestant, Map.of()).get(measure))
                .map(Quartiles::of);
    }
}
