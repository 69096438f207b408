package io.ratelimit.web.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.TestWebSettings;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.HttpStatus;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpSession;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.RequestScope;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.context.request.SessionScope;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

class ServletRequestCallSourceTests {

    private final WebApplicationContextRunner runner =
            LimitedContexts.inMemoryServlet().withUserConfiguration(Mvc.class).withBean(QuoteController.class);

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "clientIp, 203.0.113.7",
                "principal, alice",
                "principal.name, alice",
                "header('X-Api-Key'), k-1",
                "#root.clientIp, 203.0.113.7",
                "#root.header('x-api-key'), k-1",
                "header('X-Api-Key') + '@' + clientIp, k-1@203.0.113.7",
                "\"principal != null ? principal.name : clientIp\", alice",
            })
    void expressionSeesTheRequest(String expression, String key) {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    assertThat(MockMvcTester.from(context).perform(request())).hasStatusOk();
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(key);
                });
    }

    @Test
    void keysOfDifferentKindsAreKeptApartByAPrefix() {
        String expression = "header('X-Api-Key') != null ? 'key:' + header('X-Api-Key') : 'ip:' + clientIp";
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    MockMvcTester mvc = MockMvcTester.from(context);
                    assertThat(mvc.get().uri("/quote").header("X-Api-Key", "127.0.0.1"))
                            .hasStatusOk();
                    assertThat(mvc.get().uri("/quote")).hasStatusOk();
                    assertThat(context.getBean(RecordingListener.class).keys())
                            .containsExactly("key:127.0.0.1", "ip:127.0.0.1");
                });
    }

    @Test
    void requestGoesAlongToAnotherThreadAndDoesNotStayThere() {
        ServletRequestCallSource requests = new ServletRequestCallSource(TestWebSettings.of(HeaderFormat.NONE));
        AtomicReference<RequestAttributes> seen = new AtomicReference<>();
        MockHttpServletRequest request = new MockHttpServletRequest();
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request));
        Runnable task = requests.carriedBy(() -> seen.set(RequestContextHolder.getRequestAttributes()));
        RequestContextHolder.resetRequestAttributes();
        task.run();
        assertThat(seen.get())
                .isInstanceOfSatisfying(
                        ServletRequestAttributes.class,
                        carried -> assertThat(carried.getRequest()).isSameAs(request));
        assertThat(RequestContextHolder.getRequestAttributes()).isNull();
    }

    /** Spring completes the attributes of a thread when it leaves a request that goes on asynchronously. */
    @Test
    void requestScopeIsOpenAfterTheCallersThreadHasLeftTheRequest() {
        ServletRequestCallSource requests = new ServletRequestCallSource(TestWebSettings.of(HeaderFormat.NONE));
        AtomicReference<Object> seen = new AtomicReference<>();
        ServletRequestAttributes attributes = new ServletRequestAttributes(new MockHttpServletRequest());
        RequestContextHolder.setRequestAttributes(attributes);
        Runnable task = requests.carriedBy(() -> seen.set(new RequestScope().get("cart", () -> "items")));
        RequestContextHolder.resetRequestAttributes();
        attributes.requestCompleted();
        task.run();
        assertThat(seen).hasValue("items");
    }

    @Test
    void endOfTheRequestDestroysBeansThatTheOtherThreadHasCreated() {
        ServletRequestCallSource requests = new ServletRequestCallSource(TestWebSettings.of(HeaderFormat.NONE));
        AtomicBoolean destroyed = new AtomicBoolean();
        ServletRequestAttributes attributes = new ServletRequestAttributes(new MockHttpServletRequest());
        RequestContextHolder.setRequestAttributes(attributes);
        Runnable task = requests.carriedBy(
                () -> new RequestScope().registerDestructionCallback("cart", () -> destroyed.set(true)));
        RequestContextHolder.resetRequestAttributes();
        task.run();
        assertThat(destroyed).isFalse();
        attributes.requestCompleted();
        assertThat(destroyed).isTrue();
    }

    /** A session that is kept elsewhere learns only so of what has changed in its beans. */
    @Test
    void sessionIsToldOfBeansThatTheOtherThreadHasChanged() {
        ServletRequestCallSource requests = new ServletRequestCallSource(TestWebSettings.of(HeaderFormat.NONE));
        AtomicInteger told = new AtomicInteger();
        MockHttpSession session = new MockHttpSession() {
            @Override
            public void setAttribute(String name, Object value) {
                told.incrementAndGet();
                super.setAttribute(name, value);
            }
        };
        session.setAttribute("cart", new ArrayList<>());
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.setSession(session);
        ServletRequestAttributes attributes = new ServletRequestAttributes(request);
        RequestContextHolder.setRequestAttributes(attributes);
        Runnable task = requests.carriedBy(() -> new SessionScope().get("cart", ArrayList::new));
        RequestContextHolder.resetRequestAttributes();
        task.run();
        attributes.requestCompleted();
        assertThat(told).hasValue(2);
    }

    @Test
    void forwardedHeadersAreTheContainersBusiness() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=clientIp")
                .run(context -> {
                    MockMvcTester.from(context)
                            .perform(request()
                                    .header("X-Forwarded-For", "198.51.100.1")
                                    .header("Forwarded", "for=198.51.100.1"));
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("203.0.113.7");
                });
    }

    @ParameterizedTest
    @CsvSource({"principal", "header('X-Api-Key')"})
    void callerWithoutWhatTheKeyIsMadeOfIsNotServed(String expression) {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    assertThat(MockMvcTester.from(context).get().uri("/quote"))
                            .hasStatus(HttpStatus.BAD_REQUEST)
                            .failure()
                            .hasMessageEndingWith("\"" + expression + "\" must return a key (was null)");
                    assertThat(context.getBean(RecordingListener.class).keys()).isEmpty();
                });
    }

    @Test
    void parameterThatLooksLikeAnExpressionIsOnlyAKey() {
        String attack = "T(java.lang.Runtime).getRuntime().exec('true')";
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=#symbol")
                .run(context -> {
                    MockMvcTester mvc = MockMvcTester.from(context);
                    assertThat(mvc.get().uri("/quote").param("symbol", attack)).hasStatusOk();
                    assertThat(mvc.get().uri("/quote").param("symbol", attack))
                            .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                            .bodyText()
                            .doesNotContain("Runtime");
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(attack, attack);
                });
    }

    private static MockHttpServletRequestBuilder request() {
        return MockMvcRequestBuilders.get("/quote")
                .with(request -> {
                    request.setRemoteAddr("203.0.113.7");
                    return request;
                })
                .principal(() -> "alice")
                .header("X-Api-Key", "k-1");
    }

    @EnableWebMvc
    static class Mvc {}

    @RestController
    static class QuoteController {

        @GetMapping("/quote")
        @RateLimited(name = "quotes", rate = "1/s")
        public String quote(@RequestParam(required = false) String symbol) {
            return "42 " + symbol;
        }
    }
}
