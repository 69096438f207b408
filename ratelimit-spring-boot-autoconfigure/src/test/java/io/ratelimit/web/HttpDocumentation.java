package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.json.JsonParserFactory;

/** The HTTP exchanges in the documentation: each is a request and its response. */
final class HttpDocumentation {

    private static final Pattern STEP = Pattern.compile(
            "<!-- application:(?<properties>[^\\n]*)-->|<!-- later: (?<later>\\S+) -->|<!-- called before: (?<before>\\S+) -->|"
                    + "(?<failure><!-- the store fails -->)|```http\\n(?<exchange>.*?)```\\n",
            Pattern.DOTALL | Pattern.UNIX_LINES);

    private HttpDocumentation() {}

    /** Something that happens in an application. */
    @FunctionalInterface
    interface Step {

        void happen(HttpApplication application);
    }

    /** What happens in one application with these properties. */
    record Story(List<String> properties, List<Step> steps) {}

    static List<Story> stories() {
        return MarkdownPage.guides().stream()
                .flatMap(page -> stories(page).stream())
                .toList();
    }

    private static List<Story> stories(MarkdownPage page) {
        List<Story> stories = new ArrayList<>();
        Matcher matcher = STEP.matcher(page.text());
        while (matcher.find()) {
            if (matcher.group("exchange") != null) {
                last(stories).steps().add(exchange(matcher.group("exchange")));
            } else if (matcher.group("failure") != null) {
                last(stories).steps().add(HttpApplication::failStore);
            } else if (matcher.group("before") != null) {
                String path = matcher.group("before");
                last(stories).steps().add(application -> application.get(path));
            } else if (matcher.group("later") != null) {
                Duration later = Duration.parse(matcher.group("later"));
                last(stories).steps().add(application -> application.later(later));
            } else {
                String properties = matcher.group("properties").strip();
                stories.add(new Story(
                        properties.isEmpty() ? List.of() : List.of(properties.split(" ")), new ArrayList<>()));
            }
        }
        return stories;
    }

    private static Story last(List<Story> stories) {
        return stories.get(stories.size() - 1);
    }

    private static Step exchange(String text) {
        String[] parts = text.split("\\n\\n", 3);
        List<String> request = parts[0].lines().toList();
        List<String> answer = parts[1].lines().toList();
        String path = request.get(0).replaceAll("GET (.*) HTTP.*", "$1");
        String[] headers = request.stream()
                .skip(1)
                .flatMap(line -> fields(List.of(line)).entrySet().stream())
                .flatMap(field -> List.of(field.getKey(), field.getValue()).stream())
                .toArray(String[]::new);
        return application -> compare(answer, parts[2].strip(), application.get(path, headers));
    }

    private static void compare(List<String> expected, String body, HttpAnswer answer) {
        Map<String, String> fields = fields(expected.subList(1, expected.size()));
        Map<String, String> ours = new LinkedHashMap<>();
        answer.headers().keySet().stream()
                .filter(name -> fields.containsKey(name) || isOurs(name))
                .forEach(name -> ours.put(name, answer.header(name)));
        assertThat(expected.get(0)).isEqualTo("HTTP/1.1 " + answer.status());
        Map<String, String> actual = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        actual.putAll(ours);
        assertThat(actual).isEqualTo(fields);
        if (body.startsWith("{")) {
            assertThat(JsonParserFactory.getJsonParser().parseMap(answer.body()))
                    .isEqualTo(JsonParserFactory.getJsonParser().parseMap(body));
        } else {
            assertThat(answer.body().strip()).isEqualTo(body);
        }
    }

    private static boolean isOurs(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.contains("ratelimit") || lower.equals("retry-after");
    }

    private static Map<String, String> fields(List<String> lines) {
        Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        lines.forEach(line -> fields.put(line.substring(0, line.indexOf(':')), line.substring(line.indexOf(':') + 2)));
        return fields;
    }
}
