package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.TimeSource;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.filter.UrlHandlerFilter;

/** Limits of URLs on a real Tomcat. */
class ServletRequestLimitTests {

    private static final String[] LOGIN = {
        "ratelimit.limits.login.rate=1/h",
        "ratelimit.http[0].path=/login",
        "ratelimit.http[0].methods=POST",
        "ratelimit.http[0].limit=login"
    };

    private static final String[] ANY = {
        "ratelimit.limits.any.rate=1/h", "ratelimit.http[0].path=/any", "ratelimit.http[0].limit=any"
    };

    private static final List<String> SPELLINGS = List.of(
            "GET /any",
            "get /any",
            "FOO /any",
            "HEAD /any",
            "GET /any/",
            "GET /any;jsessionid=1",
            "GET /any;a=b;c",
            "GET /;x/any",
            "GET /%61ny",
            "GET //any",
            "GET /./any",
            "GET /x/../any",
            "GET /%2e/any",
            "GET /x/%2e%2e/any",
            "GET /x;y/..;z/any",
            "GET /any?x=/other",
            "GET /any//",
            "GET http://elsewhere/any",
            "GET /any/;x",
            "GET /any/.");

    @Test
    void requestBeyondTheLimitIsAnsweredAsOneOfAHandler() {
        with(LOGIN, app -> {
            assertThat(app.http.send("POST /login").text())
                    .startsWith("HTTP/1.1 200")
                    .containsIgnoringCase("RateLimit: \"login\";r=0;t=3600");
            RawHttp.Answer rejected = app.http.send("POST /login");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsIgnoringCase("Retry-After: 3600")
                    .containsIgnoringCase("RateLimit: \"login\";r=0;t=3600")
                    .contains("application/problem+json", "quota-exceeded", "\"violated-policies\":[\"login\"]");
            assertThat(app.http.send("GET /login").status()).isEqualTo(200);
            assertThat(app.http.send("POST /any").status()).isEqualTo(200);
        });
    }

    @Test
    void adviceOfTheApplicationAnswers() {
        with(and(LOGIN, "spring.profiles.active=advice"), app -> {
            app.http.send("POST /login");
            RawHttp.Answer rejected = app.http.send("POST /login");
            assertThat(rejected.status()).isEqualTo(423);
            assertThat(rejected.text()).endsWith("no login for you");
        });
    }

    /** @param how what is thrown: the rejection itself, or something that it is the cause of */
    @ParameterizedTest
    @ValueSource(strings = {"itself", "servlet", "future", "io"})
    void rejectionThatLeavesAFilterIsAnsweredAsOneOfAHandler(String how) {
        with(new String[] {"spring.profiles.active=limited-filter"}, app -> {
            assertThat(app.http.send("GET /any", "How: " + how).status()).isEqualTo(200);
            RawHttp.Answer rejected = app.http.send("GET /any", "How: " + how);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.text())
                    .containsIgnoringCase("Retry-After: 3600")
                    .containsIgnoringCase("RateLimit: \"calls\";r=0;t=3600")
                    .contains("application/problem+json", "quota-exceeded", "\"violated-policies\":[\"calls\"]")
                    .doesNotContain("half an answer");
            assertThat(app.reached).containsExactly("any");
        });
    }

    @Test
    void adviceOfTheApplicationAnswersWhatLeavesAFilter() {
        with(new String[] {"spring.profiles.active=limited-filter,advice"}, app -> {
            app.http.send("GET /any", "How: servlet");
            RawHttp.Answer rejected = app.http.send("GET /any", "How: servlet");
            assertThat(rejected.status()).isEqualTo(423);
            assertThat(rejected.text()).endsWith("no calls for you");
        });
    }

    @ParameterizedTest
    @CsvSource({"unrelated,500", "committed,200"})
    void whatIsNotOursOrTooLateIsLeftToTheContainer(String how, int status) {
        with(new String[] {"spring.profiles.active=limited-filter"}, app -> {
            app.http.send("GET /any", "How: " + how);
            RawHttp.Answer answer = app.http.send("GET /any", "How: " + how);
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.text()).doesNotContain("problem+json", "quota-exceeded");
        });
    }

    /** @param profiles a filter that takes the slash away behind the limits; a servlet that reads paths as the container */
    @ParameterizedTest
    @ValueSource(strings = {"slash", "slash,wide"})
    void spellingThatReachesTheHandlerIsCharged(String profiles) {
        with(and(ANY, "spring.profiles.active=" + profiles), app -> {
            for (String spelling : SPELLINGS) {
                app.reached.clear();
                app.http.send("GET /any");
                assertThat(app.http.send(spelling).status()).as(spelling).isIn(429, 400, 404);
                assertThat(app.reached).as(spelling).containsExactly("any");
                app.context.getBean(StoppedClock.class).advance(Duration.ofHours(1));
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/app/ctx/any", "/app/ctx/any/", "/app/ctx;x/any", "/app/%63tx/any", "/%61pp/ctx/any"})
    void contextPathAndServletPathAreNotPartOfTheRule(String spelling) {
        with(and(ANY, "server.servlet.context-path=/app", "spring.mvc.servlet.path=/ctx"), app -> {
            assertThat(app.http.send("GET /app/ctx/any").status()).isEqualTo(200);
            assertThat(app.http.send("GET " + spelling).status()).isNotEqualTo(200);
            assertThat(app.http.send("GET /app/ctx/any").status()).isEqualTo(429);
            assertThat(app.reached).containsExactly("any");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/legacy/in", "//legacy//in", "/legacy/x/../in", "/%6cegacy/in", "/legacy/in;x=y"})
    void servletThatIsNotSpringsIsLimitedByTheWholePath(String spelling) {
        String[] properties = {
            "ratelimit.limits.in.rate=1/h",
            "ratelimit.http[0].path=/legacy/in",
            "ratelimit.http[0].limit=in",
            "spring.profiles.active=wide"
        };
        with(properties, app -> {
            assertThat(app.http.send("GET /legacy/in").status()).isEqualTo(200);
            assertThat(app.http.send("GET " + spelling).status()).isEqualTo(429);
            assertThat(app.reached).containsExactly("legacy");
        });
    }

    @ParameterizedTest
    @CsvSource({"GET,HEAD,429", "GET,get,429", "POST,post,429", "POST,GET,200", "POST,HEAD,200"})
    void methodsAreComparedAsHandlersTakeThem(String rule, String method, int status) {
        with(and(ANY, "ratelimit.http[0].methods=" + rule), app -> {
            assertThat(app.http.send(rule + " /any").status()).isEqualTo(200);
            assertThat(app.http.send(method + " /any").status()).isEqualTo(status);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "clientIp,X: 1,127.0.0.1",
        "header('X-Api-Key'),X-Api-Key: k-1,k-1",
        "@tenants.of(clientIp),X: 1,t-127.0.0.1"
    })
    void keyIsWhatTheConfigurationSays(String expression, String header, String key) {
        with(and(ANY, "ratelimit.limits.any.key-expression=" + expression), app -> {
            app.http.send("GET /any", header);
            assertThat(app.listener().keys()).containsExactly(key);
        });
    }

    @Test
    void permitsAndConditionApply() {
        String[] properties = {
            "ratelimit.limits.any.capacity=4",
            "ratelimit.limits.any.permits=header('Cost') == null ? 1 : 3",
            "ratelimit.limits.any.condition=header('Free') == null"
        };
        with(and(ANY, properties), app -> {
            assertThat(app.http.send("GET /any", "Cost: x").status()).isEqualTo(200);
            assertThat(app.http.send("GET /any", "Cost: x").status()).isEqualTo(429);
            assertThat(app.http.send("GET /any").status()).isEqualTo(200);
            assertThat(app.http.send("GET /any").status()).isEqualTo(429);
            assertThat(app.http.send("GET /any", "Free: x").status()).isEqualTo(200);
        });
    }

    @Test
    void variableOfThePathIsTheKey() {
        String[] properties = {
            "ratelimit.limits.tenants.rate=1/h",
            "ratelimit.limits.tenants.key-expression=#tenant",
            "ratelimit.http[0].path=/tenants/{tenant}/**",
            "ratelimit.http[0].limit=tenants"
        };
        with(properties, app -> {
            assertThat(app.http.send("GET /tenants/acme/x").status()).isEqualTo(200);
            assertThat(app.http.send("GET /tenants/%61cme;a=b/x").status()).isEqualTo(429);
            assertThat(app.http.send("GET /tenants/other/x").status()).isEqualTo(200);
            assertThat(app.listener().keys()).containsExactly("acme", "acme", "other");
        });
    }

    @Test
    void allRulesThatMatchAreChargedTogetherAndEachLimitOnce() {
        String[] properties = {
            "ratelimit.limits.small.rate=1/h",
            "ratelimit.limits.big.rate=5/h",
            "ratelimit.http[0].path=/**",
            "ratelimit.http[0].limit=big",
            "ratelimit.http[1].path=/any",
            "ratelimit.http[1].limit=small",
            "ratelimit.http[2].path=/a*",
            "ratelimit.http[2].limit=small"
        };
        with(properties, app -> {
            app.http.send("GET /any");
            assertThat(app.listener().outcomes()).containsExactly("big ALLOWED", "small ALLOWED");
            app.http.send("GET /any");
            assertThat(app.listener().outcomes()).endsWith("small ALLOWED", "small REJECTED");
        });
    }

    @Test
    void limitIsSharedWithTheAnnotationThatDeclaresIt() {
        with(and(new String[0], "ratelimit.http[0].path=/any", "ratelimit.http[0].limit=annotated"), app -> {
            assertThat(app.http.send("GET /any").status()).isEqualTo(200);
            assertThat(app.http.send("GET /annotated").status()).isEqualTo(429);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/forward", "/failing", "/async"})
    void requestThatIsDispatchedAnewIsChargedOnce(String path) {
        String[] properties = {
            "ratelimit.limits.all.rate=9/h", "ratelimit.http[0].path=/**", "ratelimit.http[0].limit=all"
        };
        with(properties, app -> {
            app.http.send("GET " + path);
            assertThat(app.dispatches).hasSize(2);
            assertThat(app.listener().outcomes()).containsExactly("all ALLOWED");
        });
    }

    @Test
    void disabledLimitAndDryRunRejectNothing() {
        for (String property : new String[] {"enabled=false", "dry-run=true"}) {
            with(and(ANY, "ratelimit.limits.any." + property), app -> {
                app.http.send("GET /any");
                assertThat(app.http.send("GET /any").status()).isEqualTo(200);
            });
        }
    }

    @Test
    void keyThatIsMissingIsAnErrorAndNoBucketOfStrangers() {
        with(and(ANY, "ratelimit.limits.any.key-expression=header('X-Api-Key')"), app -> {
            assertThat(app.http.send("GET /any").status()).isEqualTo(500);
            assertThat(app.reached).isEmpty();
        });
    }

    @ParameterizedTest
    @CsvSource({"-101,429", "-99,403"})
    void filterComesBeforeTheOneThatAsksWhoItIsUnlessOrderedOtherwise(int order, int status) {
        with(and(ANY, "ratelimit.web.filter-order=" + order, "spring.profiles.active=guard"), app -> {
            app.http.send("GET /any");
            assertThat(app.http.send("GET /any").status()).isEqualTo(status);
        });
    }

    private static String[] and(String[] some, String... more) {
        return Stream.of(some, more).flatMap(Arrays::stream).toArray(String[]::new);
    }

    private static void with(String[] properties, Consumer<Started> test) {
        String[] arguments = Stream.concat(
                        Stream.of(
                                "server.port=0",
                                "server.address=127.0.0.1",
                                "spring.main.banner-mode=off",
                                "ratelimit.store=in-memory"),
                        Arrays.stream(properties))
                .map(property -> "--" + property)
                .toArray(String[]::new);
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .run(arguments)) {
            test.accept(new Started(context));
        }
    }

    static final class Started {

        private final ConfigurableApplicationContext context;

        private final RawHttp http;

        private final List<String> reached;

        private final List<DispatcherType> dispatches;

        Started(ConfigurableApplicationContext context) {
            this.context = context;
            this.http =
                    new RawHttp(Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")));
            this.reached = context.getBean(Application.class).reached;
            this.dispatches = context.getBean(Application.class).dispatches;
        }

        RecordingListener listener() {
            return context.getBean(RecordingListener.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        private final List<DispatcherType> dispatches = new CopyOnWriteArrayList<>();

        private final List<String> reached = new CopyOnWriteArrayList<>();

        @Bean
        TimeSource time() {
            return new StoppedClock();
        }

        @Bean
        RecordingListener listener() {
            return new RecordingListener();
        }

        @Bean
        Handlers handlers() {
            return new Handlers(reached);
        }

        @Bean
        Tenants tenants() {
            return new Tenants();
        }

        @Bean
        FilterRegistrationBean<Filter> dispatchCounter() {
            FilterRegistrationBean<Filter> counter = new FilterRegistrationBean<>((request, response, chain) -> {
                dispatches.add(request.getDispatcherType());
                chain.doFilter(request, response);
            });
            counter.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            counter.setAsyncSupported(true);
            return counter;
        }

        /** Takes the slash away behind the limits. */
        @Bean
        @Profile("slash")
        FilterRegistrationBean<UrlHandlerFilter> slashes() {
            FilterRegistrationBean<UrlHandlerFilter> slashes = new FilterRegistrationBean<>(
                    UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build());
            slashes.setOrder(0);
            return slashes;
        }

        /** A servlet that reads paths as the container does. */
        @Bean
        @Profile("wide")
        ServletRegistrationBean<HttpServlet> legacy() {
            return new ServletRegistrationBean<>(new Legacy(reached), "/legacy/*");
        }

        /** A servlet for one path, which the container decodes and tidies before it compares. */
        @Bean
        @Profile("wide")
        ServletRegistrationBean<HttpServlet> exact() {
            ServletRegistrationBean<HttpServlet> exact = new ServletRegistrationBean<>(new Exact(reached), "/any");
            exact.setName("exact");
            return exact;
        }

        @Bean
        @Profile("guard")
        FilterRegistrationBean<Filter> guard() {
            FilterRegistrationBean<Filter> guard = new FilterRegistrationBean<>(
                    (request, response, chain) -> ((HttpServletResponse) response).sendError(403));
            guard.setOrder(-100);
            return guard;
        }

        @Bean
        @Profile("limited-filter")
        Calls calls() {
            return new Calls();
        }

        @Bean
        @Profile("limited-filter")
        LimitedFilter limitedFilter(Calls calls) {
            return new LimitedFilter(calls);
        }

        @Bean
        @Profile("advice")
        Advice advice() {
            return new Advice();
        }
    }

    static class Tenants {

        public String of(String address) {
            return "t-" + address;
        }
    }

    static class Calls {

        @RateLimited(name = "calls", rate = "1/h")
        public void call() {}
    }

    /** A filter of the application that calls a limited service, and makes of a rejection what the request says. */
    static class LimitedFilter extends OncePerRequestFilter {

        private final Calls calls;

        LimitedFilter(Calls calls) {
            this.calls = calls;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            try {
                calls.call();
            } catch (RateLimitExceededException ex) {
                response.setContentType("text/html");
                response.getOutputStream().print("half an answer");
                switch (request.getHeader("How")) {
                    case "servlet" -> throw new ServletException(new IllegalStateException(ex));
                    case "future" -> throw new CompletionException(ex);
                    case "io" -> throw new IOException(ex);
                    case "unrelated" -> throw new ServletException("unrelated");
                    case "committed" -> response.flushBuffer();
                    default -> {}
                }
                throw ex;
            }
            chain.doFilter(request, response);
        }
    }

    @RestControllerAdvice
    static class Advice {

        @ExceptionHandler
        @ResponseStatus(HttpStatus.LOCKED)
        public String rejected(RateLimitExceededException rejection) {
            return "no " + rejection.getLimitName() + " for you";
        }
    }

    @Controller
    static class Handlers {

        private final List<String> reached;

        Handlers(List<String> reached) {
            this.reached = reached;
        }

        @PostMapping("/login")
        @ResponseBody
        public String login() {
            return "welcome";
        }

        @GetMapping("/login")
        @ResponseBody
        public String form() {
            return "who are you?";
        }

        @RequestMapping("/any")
        @ResponseBody
        public String any() {
            reached.add("any");
            return "any";
        }

        @GetMapping("/annotated")
        @ResponseBody
        @RateLimited(name = "annotated", rate = "1/h")
        public String annotated() {
            return "annotated";
        }

        @GetMapping("/tenants/{tenant}/x")
        @ResponseBody
        public String tenant(@PathVariable String tenant) {
            return tenant;
        }

        @GetMapping("/forward")
        public String forward() {
            return "forward:/any";
        }

        @GetMapping("/failing")
        public void failing() {
            throw new IllegalStateException("failing");
        }

        @GetMapping("/async")
        @ResponseBody
        public Callable<String> async() {
            return () -> "async";
        }
    }

    @SuppressWarnings("serial")
    static class Legacy extends HttpServlet {

        private final transient List<String> reached;

        Legacy(List<String> reached) {
            this.reached = reached;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            reached.add("legacy");
            response.getWriter().print(request.getPathInfo());
        }
    }

    @SuppressWarnings("serial")
    static class Exact extends HttpServlet {

        private final transient List<String> reached;

        Exact(List<String> reached) {
            this.reached = reached;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) {
            reached.add("any");
        }
    }
}
