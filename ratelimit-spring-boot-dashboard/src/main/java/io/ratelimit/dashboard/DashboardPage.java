package io.ratelimit.dashboard;

import io.ratelimit.RateLimitConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The files of the dashboard by their URLs. They hold no data, and are the same for every user. */
final class DashboardPage {

    /** What the page loads, with its media types. */
    static final Map<String, String> FILES = files();

    private DashboardPage() {}

    private static Map<String, String> files() {
        Map<String, String> files = new LinkedHashMap<>();
        files.put("dashboard.css", "text/css;charset=UTF-8");
        files.put("icon.svg", "image/svg+xml");
        for (String script : new String[] {
            "dom", "format", "history", "charts", "client", "changes", "overview", "detail", "dashboard"
        }) {
            files.put(script + ".js", "text/javascript;charset=UTF-8");
        }
        return files;
    }

    /**
     * Reads the files. All references between them are relative, so that they hold behind a proxy that adds a prefix.
     *
     * @param path the path of the page, such as {@code /ratelimits}
     * @param endpoint the path of the endpoint on the same server; {@code null}: it is not exposed
     */
    static Map<String, DashboardResponse> at(String path, @Nullable String endpoint) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        String page = new String(read("page.html"), StandardCharsets.UTF_8)
                .replace("{files}", name)
                .replace("{endpoint}", endpoint == null ? "" : escape(relative(path, endpoint)));
        Map<String, DashboardResponse> responses = new LinkedHashMap<>();
        responses.put(path, DashboardResponse.of("text/html;charset=UTF-8", page.getBytes(StandardCharsets.UTF_8)));
        responses.put(path + "/", DashboardResponse.redirect("../" + name));
        FILES.forEach((file, type) -> responses.put(path + "/" + file, DashboardResponse.of(type, read(file))));
        return responses;
    }

    /** @throws RateLimitConfigurationException if an endpoint has the path of the page or one above it */
    static void check(String path, Collection<String> endpoints) {
        for (String endpoint : endpoints) {
            if (path.equals(endpoint) || path.startsWith(endpoint + "/")) {
                throw new RateLimitConfigurationException(
                        "ratelimit.dashboard.path must not be the path of an actuator endpoint, or below one (was "
                                + path + ", an endpoint is at " + endpoint + ").",
                        "Choose another path, such as /dashboard/ratelimits.");
            }
        }
    }

    private static String relative(String path, String target) {
        int directories = (int) path.chars().filter(each -> each == '/').count() - 1;
        return "../".repeat(directories) + target.substring(1);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;");
    }

    private static byte[] read(String file) {
        try (InputStream resource = DashboardPage.class.getResourceAsStream(file)) {
            if (resource == null) {
                throw new IllegalStateException("The file " + file + " of the dashboard is missing");
            }
            return resource.readAllBytes();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
