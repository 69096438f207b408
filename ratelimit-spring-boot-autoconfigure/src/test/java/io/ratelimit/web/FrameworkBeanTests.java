package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.MethodParameter;
import org.springframework.validation.Errors;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import reactor.core.publisher.Mono;

/** Annotated beans that a web framework calls around a handler: a rejection is that of the request. */
class FrameworkBeanTests {

    @RegisterExtension
    static final RunningApplication servlet =
            new RunningApplication(WebApplicationType.SERVLET, ServletApplication.class);

    @RegisterExtension
    static final RunningApplication reactive =
            new RunningApplication(WebApplicationType.REACTIVE, ReactiveApplication.class);

    @ParameterizedTest
    @ValueSource(strings = {"intercepted", "resolved", "validated"})
    void rejectionOfABeanOfSpringMvcIsThatOfTheRequest(String path) {
        assertLimited(servlet, path);
    }

    @Test
    void rejectionOfAWebFilterIsThatOfTheRequest() {
        assertLimited(reactive, "filtered");
    }

    private static void assertLimited(RunningApplication application, String path) {
        assertThat(application.get(path).status()).isEqualTo(200);
        assertThat(application.get(path).text())
                .startsWith("HTTP/1.1 429")
                .containsIgnoringCase("Retry-After: ")
                .contains("\"violated-policies\":[\"" + path + "\"]");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Handlers.class, Intercepting.class, Resolving.class, Validating.class})
    static class ServletApplication {

        @Bean
        WebMvcConfigurer beans(Intercepting interceptor, Resolving resolver) {
            return new WebMvcConfigurer() {
                @Override
                public void addInterceptors(InterceptorRegistry registry) {
                    registry.addInterceptor(interceptor).addPathPatterns("/intercepted");
                }

                @Override
                public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
                    resolvers.add(resolver);
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Filtering.class)
    static class ReactiveApplication {}

    record Resolved() {}

    static class Validatable {}

    @RestController
    static class Handlers {

        private final Validating validator;

        Handlers(Validating validator) {
            this.validator = validator;
        }

        @InitBinder("validatable")
        void validate(WebDataBinder binder) {
            binder.setValidator(validator);
        }

        @GetMapping("/intercepted")
        String intercepted() {
            return "42";
        }

        @GetMapping("/resolved")
        String resolved(Resolved resolved) {
            return "42";
        }

        @GetMapping("/validated")
        String validated(@Validated Validatable validatable) {
            return "42";
        }
    }

    static class Intercepting implements HandlerInterceptor {

        @Override
        @RateLimited(name = "intercepted", rate = "1/h")
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
            return true;
        }
    }

    static class Resolving implements HandlerMethodArgumentResolver {

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == Resolved.class;
        }

        @Override
        @RateLimited(name = "resolved", rate = "1/h")
        public Object resolveArgument(
                MethodParameter parameter,
                ModelAndViewContainer container,
                NativeWebRequest request,
                WebDataBinderFactory factory) {
            return new Resolved();
        }
    }

    static class Validating implements Validator {

        @Override
        public boolean supports(Class<?> type) {
            return true;
        }

        @Override
        @RateLimited(name = "validated", rate = "1/h")
        public void validate(Object target, Errors errors) {}
    }

    static class Filtering implements WebFilter {

        @Override
        @RateLimited(name = "filtered", rate = "1/h")
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            return exchange.getResponse().setComplete();
        }
    }
}
