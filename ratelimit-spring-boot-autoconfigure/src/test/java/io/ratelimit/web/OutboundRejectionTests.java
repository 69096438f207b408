package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.web.client.RateLimitClientInterceptor;
import io.ratelimit.web.client.RateLimitExchangeFilterFunction;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.rsocket.service.RSocketExchange;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.service.annotation.GetExchange;
import reactor.core.publisher.Mono;

/** The caller of an application is not told that it has called too often, if the application has called another one too often. */
@LongRunning
@ExtendWith(SharedApplication.class)
class OutboundRejectionTests {

    private static final String[] LIMITS = {
        "ratelimit.limits.partner.rate=1/m",
        "ratelimit.limits.rates.rate=1/m",
        "ratelimit.limits.pointcut.rate=1/m",
        "ratelimit.limits.pointcut.pointcut=execution(* io.ratelimit.web.OutboundRejectionTests.Prices.*(..))"
    };

    @Test
    void limitOfACallByRSocketIsNoQuotaOfTheCaller() {
        ByRSocket client = (ByRSocket) Proxy.newProxyInstance(
                ByRSocket.class.getClassLoader(),
                new Class<?>[] {ByRSocket.class},
                (proxy, method, arguments) -> method.getName().equals("quote") ? "quote" : null);
        LimitedContexts.inMemory().withBean(ByRSocket.class, () -> client).run(context -> {
            ByRSocket limited = context.getBean(ByRSocket.class);
            limited.quote();
            assertThatExceptionOfType(OutboundRateLimitExceededException.class).isThrownBy(limited::quote);
        });
    }

    interface ByRSocket {

        @RSocketExchange("quote")
        @RateLimited(name = "rsocket", rate = "1/h")
        String quote();
    }

    @ParameterizedTest
    @CsvSource({
        "SERVLET, /rest-client",
        "SERVLET, /web-client",
        "SERVLET, /http-interface",
        "SERVLET, /http-interface-future",
        "SERVLET, /http-interface-mono",
        "SERVLET, /feign",
        "SERVLET, /pointcut",
        "REACTIVE, /rest-client",
        "REACTIVE, /web-client",
        "REACTIVE, /http-interface",
        "REACTIVE, /http-interface-future",
        "REACTIVE, /http-interface-mono",
        "REACTIVE, /feign",
        "REACTIVE, /pointcut"
    })
    void limitOfACallToAnotherApplicationIsNoQuotaOfTheCaller(WebApplicationType type, String path) {
        SharedApplication.with(Application.class, type, LIMITS, application -> {
            assertThat(get(application, path).status()).isEqualTo(200);
            String answer = get(application, path).text();
            assertThat(answer)
                    .startsWith("HTTP/1.1 503")
                    .containsIgnoringCase("Retry-After: 60\r\n")
                    .contains("#temporary-reduced-capacity", "Another application must not be called at present")
                    .doesNotContain("violated-policies")
                    .doesNotContainIgnoringCase("RateLimit");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void errorPageHasTheHeaderToo(WebApplicationType type) {
        SharedApplication.with(Application.class, type, LIMITS, application -> {
            get(application, "/rest-client");
            assertThat(get(application, "/rest-client", "Accept: text/html").text())
                    .startsWith("HTTP/1.1 503")
                    .containsIgnoringCase("Retry-After: 60\r\n")
                    .contains("<html>");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void controllerThatImplementsTheInterfaceOfAClientIsNoClient(WebApplicationType type) {
        SharedApplication.with(Application.class, type, LIMITS, application -> {
            assertThat(get(application, "/served").status()).isEqualTo(200);
            assertThat(get(application, "/served").text()).startsWith("HTTP/1.1 429");
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void statusIsAProperty(WebApplicationType type) {
        String[] properties = {LIMITS[0], LIMITS[1], LIMITS[2], LIMITS[3], "ratelimit.web.outbound-status=429"};
        SharedApplication.with(Application.class, type, properties, application -> {
            get(application, "/feign");
            assertThat(get(application, "/feign").text())
                    .startsWith("HTTP/1.1 429")
                    .contains("violated-policies");
        });
    }

    private static RawHttp.Answer get(ConfigurableApplicationContext application, String path, String... headers) {
        int port = Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port"));
        return new RawHttp(port).send("GET " + path, headers);
    }

    interface Rates {

        @GetExchange("/rates")
        @RateLimited(name = "rates")
        String rate();

        @GetExchange("/rates")
        @RateLimited(name = "future-rates", rate = "1/m")
        CompletableFuture<String> futureRate();

        @GetExchange("/rates")
        @RateLimited(name = "mono-rates", rate = "1/m")
        Mono<String> monoRate();
    }

    interface Prices {

        @GetExchange("/prices")
        String price();
    }

    @FeignClient
    interface Quotes {

        @RateLimited(name = "quotes", rate = "1/m")
        String quote();
    }

    interface Served {

        @GetExchange("/served")
        @RateLimited(name = "served", rate = "1/m")
        String served();
    }

    @RestController
    static class ServedController implements Served {

        @Override
        @GetMapping("/served")
        public String served() {
            return "served";
        }
    }

    @RestController
    static class Controller {

        private final RateLimiterRegistry limits;

        private final RestClient restClient;

        private final WebClient webClient;

        private final Rates rates;

        private final Prices prices;

        private final Quotes quotes;

        Controller(RateLimiterRegistry limits, Rates rates, Prices prices, Quotes quotes) {
            this.limits = limits;
            this.restClient = RestClient.builder()
                    .requestInterceptor(RateLimitClientInterceptor.of(limits, "partner"))
                    .build();
            this.webClient = WebClient.builder()
                    .filter(RateLimitExchangeFilterFunction.of(limits, "partner"))
                    .build();
            this.rates = rates;
            this.prices = prices;
            this.quotes = quotes;
        }

        /** The first request takes the permit, so that no request is sent. */
        @GetMapping("/rest-client")
        String restClient() {
            return limits.get("partner").tryAcquire("partner.test").allowed()
                    ? "taken"
                    : restClient.get().uri("http://partner.test/").retrieve().body(String.class);
        }

        @GetMapping("/web-client")
        Mono<String> webClient() {
            return limits.get("partner").tryAcquire("partner.test").allowed()
                    ? Mono.just("taken")
                    : webClient.get().uri("http://partner.test/").retrieve().bodyToMono(String.class);
        }

        @GetMapping("/http-interface")
        String httpInterface() {
            return rates.rate();
        }

        @GetMapping("/http-interface-future")
        CompletableFuture<String> httpInterfaceFuture() {
            return rates.futureRate();
        }

        @GetMapping("/http-interface-mono")
        Mono<String> httpInterfaceMono() {
            return rates.monoRate();
        }

        @GetMapping("/feign")
        String feign() {
            return quotes.quote();
        }

        @GetMapping("/pointcut")
        String pointcut() {
            return prices.price();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Rates rates() {
            return client(Rates.class);
        }

        @Bean
        Prices prices() {
            return client(Prices.class);
        }

        @Bean
        Quotes quotes() {
            return client(Quotes.class);
        }

        /** As Spring creates the clients of HTTP interfaces. */
        private static <T> T client(Class<T> type) {
            return ProxyFactory.getProxy(type, (MethodInterceptor) Application::answer);
        }

        private static Object answer(MethodInvocation invocation) {
            Class<?> type = invocation.getMethod().getReturnType();
            return type == Mono.class
                    ? Mono.just("answer")
                    : type == String.class ? "answer" : CompletableFuture.completedFuture("answer");
        }

        @Bean
        Controller controller(RateLimiterRegistry limits, Rates rates, Prices prices, Quotes quotes) {
            return new Controller(limits, rates, prices, quotes);
        }

        @Bean
        ServedController servedController() {
            return new ServedController();
        }

        @Bean
        TimeSource time() {
            return new StoppedClock();
        }

        @Bean
        RecordingListener listener() {
            return new RecordingListener();
        }
    }
}
