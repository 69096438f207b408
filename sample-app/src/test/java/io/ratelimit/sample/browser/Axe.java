package io.ratelimit.sample.browser;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Checks a page with axe-core, which runs in the page, against WCAG 2.1 AA. Only a browser that draws pages can tell. */
public final class Axe {

    private static final String SCRIPT = script();

    private Axe() {}

    /** Returns what violates a rule: its name and help, and the elements. */
    @SuppressWarnings("unchecked")
    public static List<String> violations(Browser browser) {
        if (!Boolean.TRUE.equals(browser.run("return 'axe' in window"))) {
            browser.run(SCRIPT);
        }
        Map<String, Object> report = (Map<String, Object>) browser.runAsync("""
                const done = arguments[arguments.length - 1];
                axe.run(document, {
                  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations', 'passes']
                }).then(report => done({
                  passes: report.passes.length,
                  violations: report.violations.map(each => each.id + ': ' + each.help + ': '
                    + each.nodes.map(node => node.target.join(' ') + ' (' + node.failureSummary + ')').join(', '))
                }), error => done({ passes: 0, violations: [String(error)] }));
                """);
        // A page without text would have none.
        if (((Number) report.get("passes")).intValue() < 10) {
            throw new IllegalStateException("The rules apply to nothing on this page: " + report);
        }
        return (List<String>) report.get("violations");
    }

    private static String script() {
        try (InputStream script = Axe.class.getResourceAsStream("/axe.min.js")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
