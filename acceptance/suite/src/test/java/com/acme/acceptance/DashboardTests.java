package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The dashboard on both stacks, at its default path and at another one, in applications without Spring Security. */
class DashboardTests {

    private static final Pattern REFERENCE = Pattern.compile("(?:src|href)=\"(?!#)([^\"]+)\"");

    private static final Pattern ENDPOINT = Pattern.compile("data-endpoint=\"([^\"]+)\"");

    private enum Page {
        SERVLET(Application.SERVLET, "/ratelimits", "redis"),
        SERVLET_AT_ANOTHER_PATH(Application.IN_MEMORY, "/ops/limits", "in-memory"),
        REACTIVE_AT_ANOTHER_PATH(Application.REACTIVE, "/ops/limits", "redis");

        private final Application application;

        private final String path;

        private final String store;

        Page(Application application, String path, String store) {
            this.application = application;
            this.path = path;
            this.store = store;
        }

        private HttpResponse<String> get(String reference) {
            return application.get(
                    reference.isEmpty() ? path : URI.create(path).resolve(reference).toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void thePageAndItsFilesAreServedWithTheirPolicy(Page page) {
        HttpResponse<String> html = page.get("");
        assertServed(html, "text/html;charset=UTF-8");
        List<String> files = REFERENCE
                .matcher(html.body())
                .results()
                .map(reference -> reference.group(1))
                .toList();
        assertThat(files).hasSizeGreaterThan(5);
        files.forEach(file -> assertServed(
                page.get(file),
                file.endsWith(".js")
                        ? "text/javascript;charset=UTF-8"
                        : file.endsWith(".css") ? "text/css;charset=UTF-8" : "image/svg+xml"));
    }

    @ParameterizedTest
    @EnumSource
    void thePageFindsTheEndpoint(Page page) {
        Matcher endpoint = ENDPOINT.matcher(page.get("").body());
        assertThat(endpoint.find()).isTrue();
        HttpResponse<String> limits = page.get(endpoint.group(1));
        assertThat(limits.statusCode()).as(limits.body()).isEqualTo(200);
        assertThat(limits.body()).contains("\"kind\":\"" + page.store + "\"");
    }

    @ParameterizedTest
    @EnumSource
    void theStartLogSaysWhereItIs(Page page) {
        assertThat(page.application.startLog())
                .anyMatch(line -> line.contains(
                        "The dashboard is at " + page.path + ", on the server of /actuator/ratelimits"));
    }

    /** Elsewhere there is nothing, with a slash at its end it is found, and nothing can be sent to it. */
    @Test
    void nothingElseIsServed() {
        assertThat(Application.REACTIVE.get("/ratelimits").statusCode()).isEqualTo(404);
        assertThat(Application.IN_MEMORY.get("/ratelimits").statusCode()).isEqualTo(404);
        for (Page page : Page.values()) {
            HttpResponse<String> redirect = page.application.get(page.path + "/");
            assertThat(redirect.statusCode()).isEqualTo(302);
            assertThat(redirect.headers().firstValue("Location"))
                    .hasValueSatisfying(location -> assertThat(
                                    URI.create(page.path + "/").resolve(location).getPath())
                            .isEqualTo(page.path));
            assertThat(page.application.send("POST", page.path, "{}").statusCode())
                    .isEqualTo(405);
            assertThat(page.get(page.path + "/page.html").statusCode()).isEqualTo(404);
        }
    }

    private static void assertServed(HttpResponse<String> response, String type) {
        String uri = response.uri().getPath();
        assertThat(response.statusCode()).as(uri).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).as(uri).contains(type);
        assertThat(response.headers().firstValue("X-Content-Type-Options"))
                .as(uri)
                .contains("nosniff");
        assertThat(response.headers().allValues("Content-Security-Policy"))
                .as(uri)
                .singleElement()
                .asString()
                .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
                .doesNotContain("unsafe", "*", "http");
    }
}
