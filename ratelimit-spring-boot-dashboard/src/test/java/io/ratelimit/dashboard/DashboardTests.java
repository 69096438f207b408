package io.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.testing.LongRunning;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What both stacks serve, and where. What the page does with it is tested in a browser, with the sample. */
@ExtendWith(OutputCaptureExtension.class)
class DashboardTests {

    private static final Pattern REFERENCE = Pattern.compile("(?:src|href)=\"(?!#)([^\"]+)\"");

    private static final Pattern ENDPOINT = Pattern.compile("data-endpoint=\"([^\"]*)\"");

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void everyFileIsServedAndNamesNoOtherServer(WebApplicationType type, CapturedOutput output) {
        try (DashboardApplication application = new DashboardApplication(type)) {
            HttpResponse<String> page = application.get("/ratelimits");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type")).contains("text/html;charset=UTF-8");
            assertThat(page.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(page.headers().firstValue("Content-Security-Policy"))
                    .hasValueSatisfying(policy -> assertThat(policy)
                            .contains(
                                    "default-src 'none'",
                                    "script-src 'self'",
                                    "style-src 'self'",
                                    "frame-ancestors 'none'")
                            .doesNotContain("unsafe", "*", "http"));
            List<String> files = REFERENCE
                    .matcher(page.body())
                    .results()
                    .map(reference -> reference.group(1))
                    .toList();
            assertThat(files).hasSameSizeAs(DashboardPage.FILES.keySet());
            for (String file : files) {
                HttpResponse<String> answer = application.get(resolve("/ratelimits", file));
                assertThat(answer.statusCode()).as(file).isEqualTo(200);
                assertThat(answer.headers().firstValue("Content-Type"))
                        .contains(DashboardPage.FILES.get(file.substring(file.indexOf('/') + 1)));
                assertThat(answer.body()).as(file).doesNotContainPattern("https?://(?!www\\.w3\\.org/2000/svg)");
            }
            assertThat(application.get(resolve("/ratelimits", endpoint(page))).body())
                    .contains("\"quotes\"");
            assertThat(output).contains("The dashboard is at /ratelimits, on the server of /actuator/ratelimits");
        }
    }

    /** The policy of the page forbids both, and a browser would silently ignore them. */
    @Test
    void thePageHasNoInlineScriptOrStyle() {
        String page = new String(
                DashboardPage.at("/ratelimits", null).get("/ratelimits").body(), StandardCharsets.UTF_8);
        assertThat(page)
                .doesNotContainPattern("<script(?![^>]*src=)")
                .doesNotContain("<style", "style=", "javascript:")
                .doesNotContainPattern("\\son[a-z]+=");
    }

    @LongRunning
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void anUnchangedFileIsNotSentAgain(WebApplicationType type) {
        try (DashboardApplication application = new DashboardApplication(type)) {
            HttpResponse<String> first = application.get("/ratelimits/dashboard.js");
            String tag = first.headers().firstValue("ETag").orElseThrow();
            HttpResponse<String> again = application.get("/ratelimits/dashboard.js", "If-None-Match", "W/" + tag);
            assertThat(again.statusCode()).isEqualTo(304);
            assertThat(again.body()).isEmpty();
            assertThat(first.headers().firstValue("Cache-Control")).contains("no-cache");
            assertThat(application.get("/ratelimits", "If-None-Match", tag).statusCode())
                    .isEqualTo(200);
        }
    }

    @LongRunning
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void itIsOnTheManagementServerAlone(WebApplicationType type) {
        try (DashboardApplication application = new DashboardApplication(
                type,
                "management.server.port=0",
                "management.server.address=127.0.0.1",
                "management.server.base-path=/manage",
                "management.endpoints.web.path-mapping.ratelimits=limits",
                "ratelimit.dashboard.path=/ops/limits")) {
            assertThat(application.get("/ops/limits").statusCode()).isEqualTo(404);
            HttpResponse<String> page = application.getFromManagementServer("/manage/ops/limits");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(endpoint(page)).isEqualTo("../actuator/limits");
            assertThat(application
                            .getFromManagementServer(resolve("/manage/ops/limits", endpoint(page)))
                            .body())
                    .contains("\"quotes\"");
            assertThat(application
                            .getFromManagementServer("/manage/ops/limits/dashboard.css")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @LongRunning
    @Test
    void aContextPathPrecedesPageAndEndpoint() {
        try (DashboardApplication application = new DashboardApplication(
                WebApplicationType.SERVLET, "server.servlet.context-path=/shop", "spring.mvc.servlet.path=/web")) {
            HttpResponse<String> page = application.get("/shop/web/ratelimits");
            assertThat(application
                            .get(resolve("/shop/web/ratelimits", endpoint(page)))
                            .body())
                    .contains("\"quotes\"");
        }
    }

    @LongRunning
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void aSlashAtTheEndLeadsToThePage(WebApplicationType type) {
        try (DashboardApplication application = new DashboardApplication(type)) {
            HttpResponse<String> answer = application.get("/ratelimits/");
            assertThat(answer.statusCode()).isEqualTo(302);
            assertThat(resolve(
                            "/ratelimits/",
                            answer.headers().firstValue("Location").orElseThrow()))
                    .isEqualTo("/ratelimits");
            assertThat(application
                            .send("POST", "local.server.port", "/ratelimits")
                            .statusCode())
                    .isEqualTo(405);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void withoutTheEndpointThePageAndTheLogSayHowToExposeIt(WebApplicationType type, CapturedOutput output) {
        try (DashboardApplication application =
                new DashboardApplication(type, "management.endpoints.web.exposure.include=health")) {
            assertThat(endpoint(application.get("/ratelimits"))).isEmpty();
            assertThat(output)
                    .contains("The dashboard at /ratelimits has nothing to show")
                    .contains("management.endpoints.web.exposure.include=health,ratelimits");
        }
    }

    @LongRunning
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void itCanBeSwitchedOff(WebApplicationType type) {
        try (DashboardApplication application = new DashboardApplication(type, "ratelimit.dashboard.enabled=off")) {
            assertThat(application.get("/ratelimits").statusCode()).isEqualTo(404);
        }
        try (DashboardApplication application = new DashboardApplication(type, "ratelimit.enabled=false")) {
            assertThat(application.get("/ratelimits").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void aPathThatIsAnEndpointsOrNoneStopsTheStartUp() {
        assertThatThrownBy(() -> new DashboardApplication(
                        WebApplicationType.SERVLET, "management.server.port=0", "management.endpoints.web.base-path=/"))
                .hasRootCauseInstanceOf(RateLimitConfigurationException.class)
                .rootCause()
                .hasMessageContaining(
                        "ratelimit.dashboard.path must not be the path of an actuator endpoint, or below one"
                                + " (was /ratelimits, an endpoint is at /ratelimits).");
        assertThatThrownBy(() ->
                        new DashboardApplication(WebApplicationType.SERVLET, "ratelimit.dashboard.path=/limits/{id}"))
                .rootCause()
                .hasMessageContaining("ratelimit.dashboard.path must begin with a slash and name a page");
    }

    private static String endpoint(HttpResponse<String> page) {
        return ENDPOINT.matcher(page.body())
                .results()
                .findFirst()
                .map(found -> found.group(1))
                .orElseThrow();
    }

    /** Resolves a reference as a browser does. */
    private static String resolve(String page, String reference) {
        return URI.create(page).resolve(reference).toString();
    }
}
