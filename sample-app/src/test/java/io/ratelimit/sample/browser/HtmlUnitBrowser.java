package io.ratelimit.sample.browser;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.htmlunit.BrowserVersion;
import org.htmlunit.ScriptException;
import org.htmlunit.Version;
import org.htmlunit.WebClient;
import org.htmlunit.WebRequest;
import org.htmlunit.WebResponse;
import org.htmlunit.html.HtmlPage;
import org.htmlunit.javascript.JavaScriptErrorListener;
import org.htmlunit.util.WebConnectionWrapper;
import org.openqa.selenium.htmlunit.HtmlUnitDriver;

/** HtmlUnit: runs the scripts of a page in this JVM, without showing it. */
final class HtmlUnitBrowser extends Browser {

    private final Driver driver;

    HtmlUnitBrowser() {
        this(new Driver());
    }

    private HtmlUnitBrowser(Driver driver) {
        super(driver, "HtmlUnit " + Version.getProductVersion());
        this.driver = driver;
    }

    @Override
    public boolean isReal() {
        return false;
    }

    @Override
    public List<String> errors() {
        return List.copyOf(driver.errors);
    }

    @Override
    public List<String> requests() {
        return driver.requests.stream()
                .map(request -> request.getUrl().toString())
                .toList();
    }

    @Override
    public List<String> sent(String header) {
        return driver.requests.stream()
                .map(request -> request.getAdditionalHeader(header))
                .filter(Objects::nonNull)
                .toList();
    }

    @Override
    public void screenshot(int width, boolean dark, Path file) {
        // It draws nothing.
    }

    @Override
    public void show(int width, boolean dark) {
        // It draws nothing.
    }

    @Override
    void clear() {
        driver.manage().deleteAllCookies();
        driver.errors.clear();
        driver.requests.clear();
    }

    private static final class Driver extends HtmlUnitDriver {

        private final List<String> errors = new CopyOnWriteArrayList<>();

        private final List<WebRequest> requests = new CopyOnWriteArrayList<>();

        Driver() {
            super(BrowserVersion.CHROME, true);
            WebClient client = getWebClient();
            client.setJavaScriptErrorListener(new ErrorRecord(errors));
            client.getOptions().setThrowExceptionOnScriptError(false);
            client.getOptions().setFetchPolyfillEnabled(true);
            client.getOptions().setThrowExceptionOnFailingStatusCode(false);
            client.setWebConnection(new WebConnectionWrapper(client) {
                @Override
                public WebResponse getResponse(WebRequest request) throws IOException {
                    requests.add(request);
                    return super.getResponse(request);
                }
            });
        }
    }

    /** Keeps the errors of scripts, which a browser would write to its console. */
    private record ErrorRecord(List<String> errors) implements JavaScriptErrorListener {

        @Override
        public void scriptException(HtmlPage page, ScriptException exception) {
            errors.add(exception.getMessage());
        }

        @Override
        public void timeoutError(HtmlPage page, long allowed, long taken) {
            errors.add("A script took longer than " + allowed + " ms");
        }

        @Override
        public void malformedScriptURL(HtmlPage page, String url, MalformedURLException exception) {
            errors.add(exception.getMessage());
        }

        @Override
        public void loadScriptError(HtmlPage page, URL url, Exception exception) {
            errors.add(exception.getMessage());
        }

        @Override
        public void warn(String message, String source, int line, String lineSource, int offset) {
            // Of the engine, not of the page.
        }
    }
}
