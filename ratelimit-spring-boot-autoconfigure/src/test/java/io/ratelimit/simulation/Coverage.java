package io.ratelimit.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Counts which features have met which events. */
final class Coverage {

    private static final Set<Event> OF_REQUESTS = EnumSet.of(Event.DISPATCH, Event.DISCONNECT);

    private final Map<Feature, Map<Event, Integer>> visits = new EnumMap<>(Feature.class);

    void visit(Set<Feature> features, Event event) {
        features.forEach(feature -> visits.computeIfAbsent(feature, first -> new EnumMap<>(Event.class))
                .merge(event, 1, Integer::sum));
    }

    int visits(Feature feature, Event event) {
        return visits.getOrDefault(feature, Map.of()).getOrDefault(event, 0);
    }

    /** Returns which features have not met which events, except what happens to requests alone. */
    List<String> missing(Set<Feature> ofRequests) {
        List<String> missing = new ArrayList<>();
        for (Feature feature : Feature.values()) {
            for (Event event : Event.values()) {
                boolean isPossible = !OF_REQUESTS.contains(event) || ofRequests.contains(feature);
                if (isPossible && visits(feature, event) == 0) {
                    missing.add(words(feature) + " × " + words(event));
                }
            }
        }
        return missing;
    }

    /** Writes a table in Markdown. */
    void write(Path file) {
        String head = "| |"
                + Stream.of(Event.values()).map(event -> words(event) + " |").collect(Collectors.joining(" ", " ", ""));
        String line = "|---|" + "---|".repeat(Event.values().length);
        String rows = Stream.of(Feature.values())
                .map(feature -> "| " + words(feature) + " | "
                        + Stream.of(Event.values())
                                .map(event -> visits(feature, event) + " |")
                                .collect(Collectors.joining(" ")))
                .collect(Collectors.joining("\n"));
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, head + "\n" + line + "\n" + rows + "\n");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
}
