package io.ratelimit.web;

import static org.springframework.security.config.Customizer.withDefaults;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.TimeSource;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.DelegatingFilterProxyRegistrationBean;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorViewResolver;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;
import reactor.core.publisher.Mono;

/** An application whose URLs are limited, on a real Tomcat; some of its filters and servlets are there by profiles. */
final class ServletRequestApplication {

    static final String GOOD_ORIGIN = "https://good.example";

    /** A limit for one path. */
    static final String[] ANY = {
        "ratelimit.limits.any.rate=1/h", "ratelimit.http[0].path=/any", "ratelimit.http[0].limit=any"
    };

    private final ConfigurableApplicationContext context;

    private ServletRequestApplication(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static String[] and(String[] some, String... more) {
        return Stream.of(some, more).flatMap(Arrays::stream).toArray(String[]::new);
    }

    /** Runs it with those properties for as long as the test takes. */
    static void with(String[] properties, Consumer<ServletRequestApplication> test) {
        SharedApplication.with(Configured.class, WebApplicationType.SERVLET, properties, context -> {
            ServletRequestApplication application = new ServletRequestApplication(context);
            application.reached().clear();
            application.dispatches().clear();
            test.accept(application);
        });
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    RawHttp http() {
        return new RawHttp(Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")));
    }

    RecordingListener listener() {
        return context.getBean(RecordingListener.class);
    }

    /** The handlers that have run. */
    List<String> reached() {
        return context.getBean(Configured.class).reached;
    }

    /** Of all requests. */
    List<DispatcherType> dispatches() {
        return context.getBean(Configured.class).dispatches;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({OwnAnswers.class, OwnServletAnswers.class, Security.class})
    static class Configured {

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
        @Profile("cors-handlers")
        WebMvcConfigurer corsOfHandlers() {
            return new WebMvcConfigurer() {
                @Override
                public void addCorsMappings(CorsRegistry registry) {
                    registry.addMapping("/**").allowedOrigins(GOOD_ORIGIN).exposedHeaders("RateLimit");
                }
            };
        }

        @Bean
        @Profile("cors-filter")
        CorsFilter corsFilter() {
            return new CorsFilter(origins());
        }

        @Bean
        @Profile("cors-registration")
        FilterRegistrationBean<CorsFilter> corsRegistration() {
            return new FilterRegistrationBean<>(new CorsFilter(origins()));
        }

        @Bean
        @Profile("cors-registration-elsewhere")
        FilterRegistrationBean<CorsFilter> corsRegistrationElsewhere() {
            FilterRegistrationBean<CorsFilter> elsewhere = new FilterRegistrationBean<>(new CorsFilter(origins()));
            elsewhere.addUrlPatterns("/elsewhere/*");
            return elsewhere;
        }

        @Bean
        @Profile("cors-source")
        CorsConfigurationSource corsConfigurationSource() {
            return origins();
        }

        private static CorsConfigurationSource origins() {
            CorsConfiguration origins = new CorsConfiguration();
            origins.setAllowedOrigins(List.of(GOOD_ORIGIN));
            origins.setExposedHeaders(List.of("RateLimit"));
            return request -> origins;
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
        @Profile("view")
        ViewAdvice viewAdvice() {
            return new ViewAdvice();
        }

        @Bean
        @Profile("view-status")
        StatusAdvice statusAdvice() {
            return new StatusAdvice();
        }

        @Bean
        @Profile("view-annotated")
        AnnotatedAdvice annotatedAdvice() {
            return new AnnotatedAdvice();
        }

        @Bean
        @Profile("broken-store")
        RateLimitScriptExecutor brokenStore() {
            return new StoreFailureResponseTests.FailingExecutor();
        }

        @Bean
        @Profile("error-resolver")
        ErrorViewResolver errorViewResolver() {
            return (request, status, model) -> new ModelAndView(errorView(), Map.of("status", status.value()));
        }

        @Bean
        RouterFunction<ServerResponse> functional(Handlers handlers) {
            return RouterFunctions.route()
                    .GET("/functional", request -> ServerResponse.ok().body(handlers.functional()))
                    .build();
        }

        @Bean
        @Profile("error-handling")
        ErrorController errorController() {
            return new OwnErrorController();
        }

        @Bean("error")
        @Profile("error-view")
        View errorView() {
            return new ErrorView();
        }

        @Bean
        @Profile("advice")
        Advice advice() {
            return new Advice();
        }
    }

    @RestController
    static class OwnErrorController implements ErrorController {

        @RequestMapping("/error")
        public String handle(HttpServletRequest request) {
            return "handled " + request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
        }
    }

    /** Spring Security, registered as Spring Boot does, for an application that permits two pages to all. */
    @Configuration(proxyBeanMethods = false)
    @EnableWebSecurity
    @Profile("login-page | basic")
    static class Security {

        @Bean
        @Profile("login-page")
        SecurityFilterChain loginPage(HttpSecurity security) {
            return permitTwoPages(security).formLogin(withDefaults()).build();
        }

        @Bean
        @Profile("basic")
        SecurityFilterChain basic(HttpSecurity security) {
            return permitTwoPages(security).httpBasic(withDefaults()).build();
        }

        private static HttpSecurity permitTwoPages(HttpSecurity security) {
            return security.authorizeHttpRequests(requests -> requests.requestMatchers("/any", "/annotated")
                    .permitAll()
                    .anyRequest()
                    .authenticated());
        }

        @Bean
        DelegatingFilterProxyRegistrationBean securityFilter() {
            DelegatingFilterProxyRegistrationBean security =
                    new DelegatingFilterProxyRegistrationBean("springSecurityFilterChain");
            security.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            security.setOrder(-100);
            return security;
        }
    }

    static class ErrorView implements View {

        @Override
        public String getContentType() {
            return "text/html";
        }

        @Override
        public void render(Map<String, ?> model, HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            response.getWriter().print("seen by " + model.get("status"));
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

    @ControllerAdvice
    static class ViewAdvice {

        @ExceptionHandler
        public String exceeded(RateLimitExceededException rejection) {
            return "slow-down";
        }

        @ExceptionHandler
        public String refused(RateLimitRefusedException refusal) {
            return "slow-down";
        }

        @ExceptionHandler
        public String missing(MissingRateLimitKeyException missing) {
            return "slow-down";
        }
    }

    @ControllerAdvice
    static class StatusAdvice {

        @ExceptionHandler
        public ModelAndView exceeded(RateLimitExceededException rejection) {
            return new ModelAndView("slow-down", HttpStatus.LOCKED);
        }
    }

    @ControllerAdvice
    static class AnnotatedAdvice {

        @ExceptionHandler
        @ResponseStatus(HttpStatus.LOCKED)
        public String exceeded(RateLimitExceededException rejection) {
            return "slow-down";
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

        @GetMapping("/future")
        @ResponseBody
        @RateLimited(name = "future", rate = "1/h")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("future");
        }

        @GetMapping("/mono")
        @ResponseBody
        @RateLimited(name = "mono", rate = "1/h")
        public Mono<String> mono() {
            return Mono.just("mono");
        }

        @RateLimited(name = "functional", rate = "1/h")
        public String functional() {
            return "functional";
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
