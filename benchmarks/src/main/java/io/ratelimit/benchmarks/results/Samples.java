package io.ratelimit.benchmarks.results;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What was found of all contestants, round by round. */
public final class Samples {

    private final Map<Subject, List<Double>> values = new HashMap<>();

    public void add(Finding finding) {
        values.computeIfAbsent(
                        new Subject(finding.workload(), finding.contestant(), finding.measure()),
                        unused -> new ArrayList<>())
                .add(finding.value());
    }

    /** The contestants under a workload: the floor, this starter, then the other libraries. */
    public List<String> contestants(String workload) {
        return values.keySet().stream()
                .filter(subject -> subject.workload.equals(workload))
                .map(Subject::contestant)
                .distinct()
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
    public Optional<Quartiles> quartiles(String workload, String contestant, Measure measure) {
        return Optional.ofNullable(values.get(new Subject(workload, contestant, measure)))
                .map(Quartiles::of);
    }

    /** The mean, for what is rare: a median would hide it. 0 if this was not measured. */
    public double mean(String workload, String contestant, Measure measure) {
        return values.getOrDefault(new Subject(workload, contestant, measure), List.of()).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(0);
    }

    private record Subject(String workload, String contestant, Measure measure) {}
}
