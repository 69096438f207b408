package io.ratelimit.sample.browser;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.openqa.selenium.By;
import org.openqa.selenium.ElementNotInteractableException;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.WebDriver;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.support.ui.WebDriverWait;

/**
 * The browser of the tests, one for all of them: Chromium, if {@code CHROME_BIN} or the PATH have it and the PATH has
 * chromedriver, otherwise HtmlUnit; {@code -Dratelimit.test.browser=htmlunit} takes it always. So every test runs everywhere; what only a real browser can tell, a test asks for with
 * {@link #isReal()}, and otherwise asserts what HtmlUnit can tell instead.
 */
public abstract class Browser {

    /** A busy machine is slow without being broken. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final WebDriver driver;

    private final String description;

    Browser(WebDriver driver, String description) {
        this.driver = driver;
        this.description = description;
    }

    /** Returns the browser, on an empty page, without what earlier tests have logged and stored. */
    public static Browser get() {
        Browser browser = Shared.BROWSER;
        browser.reset();
        return browser;
    }

    /** Whether this is a real browser, which has a console, applies a Content-Security-Policy and makes pictures. */
    public abstract boolean isReal();

    /** Returns what the page has logged as an error since it was opened, and the requests that its policy has blocked. */
    public abstract List<String> errors();

    /** Returns the URLs of all requests since the browser was got. */
    public abstract List<String> requests();

    /** Returns the values of a header in all requests since the browser was got. */
    public abstract List<String> sent(String header);

    /**
     * Writes a picture of the page, if the browser makes pictures.
     *
     * @param width of the page, whose height is that of its content
     * @param file a PNG; its directory must exist
     */
    public abstract void screenshot(int width, boolean dark, Path file);

    /** Shows the page as on a screen of this width and with this color scheme, if the browser draws pages. */
    public abstract void show(int width, boolean dark);

    abstract void clear();

    private void reset() {
        driver.get("about:blank");
        clear();
    }

    public Browser open(String url) {
        driver.get(url);
        return this;
    }

    /** Returns the first element that matches; CSS selectors. */
    public WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    public List<WebElement> findAll(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** Returns the text of an element, as it is shown. */
    public String text(String selector) {
        return find(selector).getText();
    }

    public boolean isShown(String selector) {
        return findAll(selector).stream().anyMatch(WebElement::isDisplayed);
    }

    /** Clicks, once the element is shown, in the middle of the window, where nothing that sticks to its edge covers it. */
    public Browser click(String selector) {
        await(selector + " is shown", () -> isShown(selector));
        WebElement element = find(selector);
        run("arguments[0].scrollIntoView({block: 'center'})", element);
        element.click();
        return this;
    }

    /** Clicks an element that the page may hide at any time, by what it does itself. */
    public Browser clickIfShown(String selector) {
        try {
            findAll(selector).stream().filter(WebElement::isDisplayed).forEach(WebElement::click);
        } catch (ElementNotInteractableException ex) {
            // Hidden between the two.
        }
        return this;
    }

    /** Replaces the content of a field. */
    public Browser type(String selector, String text) {
        await(selector + " is shown", () -> isShown(selector));
        WebElement field = find(selector);
        field.clear();
        field.sendKeys(text);
        return this;
    }

    public Object run(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    /** Runs a script that calls its last argument with the result, at some time. */
    public Object runAsync(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeAsyncScript(script, arguments);
    }

    /** Presses a key where the focus is. */
    public Browser press(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
        return this;
    }

    /** Whether the focus is on an element that matches, where it can be seen. */
    public boolean isFocused(String selector) {
        return Boolean.TRUE.equals(
                run("return document.activeElement.matches(arguments[0] + ':focus-visible')", selector));
    }

    public WebDriver driver() {
        return driver;
    }

    /** Waits for a condition; that elements are replaced while they are read is no failure. */
    public Browser await(String condition, Supplier<Boolean> isMet) {
        return await(PATIENCE, condition, isMet);
    }

    public Browser await(Duration patience, String condition, Supplier<Boolean> isMet) {
        new WebDriverWait(driver, patience, Duration.ofMillis(50))
                .ignoring(WebDriverException.class, RuntimeException.class)
                .withMessage(() -> condition + " (" + description + ")")
                .until(any -> isMet.get());
        return this;
    }

    private static final class Shared {

        private static final Browser BROWSER = start();

        private static Browser start() {
            Browser browser = "htmlunit".equals(System.getProperty("ratelimit.test.browser"))
                    ? new HtmlUnitBrowser()
                    : ChromiumBrowser.find().orElseGet(HtmlUnitBrowser::new);
            Runtime.getRuntime().addShutdownHook(new Thread(browser.driver::quit));
            String line = "Browser of the tests: " + browser.description;
            System.out.println(line);
            try {
                // For the summary of the build.
                Files.writeString(Path.of("target/browser.txt"), line + System.lineSeparator());
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
            return browser;
        }
    }
}
