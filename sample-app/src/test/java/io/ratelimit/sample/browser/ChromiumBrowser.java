package io.ratelimit.sample.browser;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.springframework.boot.json.JsonParserFactory;

/** Chromium, driven by the chromedriver of the operating system. Nothing is downloaded. */
final class ChromiumBrowser extends Browser {

    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

    private final ChromeDriver driver;

    private final List<Map<String, Object>> requests = new ArrayList<>();

    private ChromiumBrowser(ChromeDriver driver) {
        super(
                driver,
                driver.getCapabilities().getBrowserName() + " "
                        + driver.getCapabilities().getBrowserVersion());
        this.driver = driver;
    }

    /** Starts the browser, if it is there with its driver. */
    static Optional<Browser> find() {
        Optional<File> binary = Optional.ofNullable(System.getenv("CHROME_BIN"))
                .filter(name -> !name.isBlank())
                .map(File::new)
                .or(() -> NAMES.stream().flatMap(ChromiumBrowser::onPath).findFirst());
        Optional<File> chromedriver = onPath("chromedriver").findFirst();
        if (binary.isEmpty() || chromedriver.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ChromiumBrowser(start(binary.get(), chromedriver.get())));
        } catch (WebDriverException ex) {
            System.out.println(binary.get() + " does not start: " + ex.getRawMessage());
            return Optional.empty();
        }
    }

    private static Stream<File> onPath(String name) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(directory -> new File(directory, name))
                .filter(File::canExecute);
    }

    private static ChromeDriver start(File binary, File chromedriver) {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(binary);
        // Without its sandbox, which neither root nor a container can set up: it sees nothing but the pages of the
        // tests.
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--disable-sync",
                "--force-color-profile=srgb",
                "--hide-scrollbars",
                "--no-first-run",
                "--lang=en",
                "--window-size=1280,900");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
        return new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(chromedriver)
                        .usingAnyFreePort()
                        .build(),
                options);
    }

    @Override
    public boolean isReal() {
        return true;
    }

    @Override
    public List<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    @Override
    public List<String> requests() {
        return recorded().map(request -> (String) request.get("url")).toList();
    }

    @Override
    public List<String> sent(String header) {
        return recorded()
                .flatMap(request -> ((Map<?, ?>) request.get("headers"))
                        .entrySet().stream()
                                .filter(each -> header.equalsIgnoreCase((String) each.getKey()))
                                .map(each -> (String) each.getValue()))
                .toList();
    }

    @SuppressWarnings("unchecked")
    private Stream<Map<String, Object>> recorded() {
        for (LogEntry entry : driver.manage().logs().get(LogType.PERFORMANCE)) {
            Map<String, Object> message = (Map<String, Object>) JsonParserFactory.getJsonParser()
                    .parseMap(entry.getMessage())
                    .get("message");
            if ("Network.requestWillBeSent".equals(message.get("method"))) {
                Map<String, Object> parameters = (Map<String, Object>) message.get("params");
                requests.add((Map<String, Object>) parameters.get("request"));
            }
        }
        return requests.stream();
    }

    @Override
    void clear() {
        driver.manage().deleteAllCookies();
        errors();
        var unused = recorded();
        requests.clear();
        media(false);
        driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
    }

    private void media(boolean dark) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
    }

    @Override
    public void show(int width, boolean dark) {
        media(dark);
        size(width, 900);
    }

    @Override
    public void screenshot(int width, boolean dark, Path file) {
        show(width, dark);
        size(width, ((Number) run("return document.documentElement.scrollHeight")).intValue());
        String picture = (String) driver.executeCdpCommand("Page.captureScreenshot", Map.of("format", "png"))
                .get("data");
        try {
            Files.write(file, Base64.getDecoder().decode(picture));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void size(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }
}
