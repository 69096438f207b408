package io.ratelimit.stomp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBufAllocator;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.web.RateLimitRSocketAutoConfiguration;
import io.rsocket.ConnectionSetupPayload;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.DefaultConnectionSetupPayload;
import io.rsocket.exceptions.ApplicationErrorException;
import io.rsocket.exceptions.InvalidException;
import io.rsocket.exceptions.RejectedException;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.util.DefaultPayload;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.messaging.handler.MessagingAdviceBean;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.rsocket.RSocketStrategies;
import org.springframework.messaging.rsocket.annotation.support.RSocketMessageHandler;
import org.springframework.stereotype.Controller;
import org.springframework.util.MimeTypeUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.method.ControllerAdviceBean;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Requests of RSocket, by Spring's message handler without a transport. */
@ExtendWith(OutputCaptureExtension.class)
class RSocketRejectionTests {

    private static final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withConfiguration(AutoConfigurations.of(RateLimitRSocketAutoConfiguration.class));

    @ParameterizedTest
    @ValueSource(strings = {"plain", "mono"})
    void rejectionIsAnErrorThatTheRequestMayBeSentAgain(String route, CapturedOutput output) {
        with(Quotes.class, context -> {
            RSocket socket = socket(context);
            assertThat(answer(socket, route)).isEqualTo("42");
            assertThatThrownBy(() -> answer(socket, route))
                    .isInstanceOf(RejectedException.class)
                    .hasMessage("Rate limit '" + route + "' exceeded; retry after 60 s");
        });
        assertThat(output).doesNotContain("ERROR");
    }

    @Test
    void requestWithoutItsKeyIsInvalid() {
        with(
                Quotes.class,
                context -> assertThatThrownBy(() -> answer(socket(context), "keyed"))
                        .isInstanceOf(InvalidException.class));
    }

    @Test
    void failingExpressionIsAnErrorOfTheApplicationAndNamesNoMethod() {
        with(
                Quotes.class,
                context -> assertThatThrownBy(() -> answer(socket(context), "broken"))
                        .isInstanceOf(ApplicationErrorException.class)
                        .hasMessage("The server cannot evaluate a rate limit of the request"));
    }

    @Test
    void cancelledStreamReleasesItsPermit() {
        with(Quotes.class, context -> {
            Disposable stream = socket(context).requestStream(payload("held")).subscribe();
            assertThat(remaining(context)).isZero();
            stream.dispose();
            assertThat(remaining(context)).isOne();
        });
    }

    @Test
    void handlerOfTheApplicationComesFirst() {
        with(OwnAnswers.class, context -> {
            RSocket socket = socket(context);
            answer(socket, "plain");
            assertThat(answer(socket, "plain")).isEqualTo("slow down");
        });
    }

    private static long remaining(ApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class)
                .get("held")
                .allCallers()
                .peek()
                .remaining();
    }

    @Test
    void adviceOfTheApplicationComesFirst() {
        runner.withUserConfiguration(ServerWithAdvice.class)
                .withBean(OwnAdvice.class)
                .withBean("quotes", Quotes.class)
                .run(context -> {
                    RSocket socket = socket(context);
                    answer(socket, "plain");
                    assertThat(answer(socket, "plain")).isEqualTo("advised to slow down");
                    assertThatThrownBy(() -> answer(socket, "keyed")).isInstanceOf(InvalidException.class);
                });
    }

    private static void with(Class<?> controller, Consumer<AssertableApplicationContext> test) {
        runner.withUserConfiguration(Server.class)
                .withBean("quotes", controller)
                .run(test::accept);
    }

    private static RSocket socket(ApplicationContext context) {
        RSocket socket = context.getBean(RSocketMessageHandler.class)
                .responder()
                .accept(setup(), new RSocket() {})
                .block();
        assertThat(socket).isNotNull();
        return socket;
    }

    private static ConnectionSetupPayload setup() {
        String text = MimeTypeUtils.TEXT_PLAIN_VALUE;
        return new DefaultConnectionSetupPayload(SetupFrameCodec.encode(
                ByteBufAllocator.DEFAULT, false, 1_000, 1_000, text, text, DefaultPayload.create("")));
    }

    private static String answer(RSocket socket, String route) {
        Payload answer = socket.requestResponse(payload(route)).block();
        if (answer == null) {
            return "";
        }
        try {
            return answer.getDataUtf8();
        } finally {
            // Netty would report the leak in the log of another test.
            answer.release();
        }
    }

    private static Payload payload(String route) {
        return DefaultPayload.create("", route);
    }

    /** As Spring Boot 3 assembles it. */
    @Configuration(proxyBeanMethods = false)
    static class Server {

        @Bean
        RSocketMessageHandler messageHandler() {
            RSocketMessageHandler handler = new RSocketMessageHandler();
            handler.setRSocketStrategies(RSocketStrategies.builder()
                    .metadataExtractorRegistry(
                            registry -> registry.metadataToExtract(MimeTypeUtils.TEXT_PLAIN, String.class, "route"))
                    .build());
            return handler;
        }
    }

    /** As Spring Boot 4 assembles it. */
    @Configuration(proxyBeanMethods = false)
    static class ServerWithAdvice {

        @Bean
        RSocketMessageHandler messageHandler(ApplicationContext context) {
            RSocketMessageHandler handler = new Server().messageHandler();
            ControllerAdviceBean.findAnnotatedBeans(context)
                    .forEach(advice -> handler.registerMessagingAdvice(new Advice(advice)));
            return handler;
        }
    }

    @ControllerAdvice
    @Order(0)
    static class OwnAdvice {

        @MessageExceptionHandler
        Mono<String> rejected(RateLimitExceededException rejection) {
            return Mono.just("advised to slow down");
        }
    }

    private record Advice(ControllerAdviceBean bean) implements MessagingAdviceBean {

        @Override
        public Class<?> getBeanType() {
            return bean.getBeanType();
        }

        @Override
        public Object resolveBean() {
            return bean.resolveBean();
        }

        @Override
        public boolean isApplicableToBeanType(Class<?> type) {
            return bean.isApplicableToBeanType(type);
        }

        @Override
        public int getOrder() {
            return bean.getOrder();
        }
    }

    @Controller
    static class Quotes {

        @MessageMapping("plain")
        @RateLimited(name = "plain", rate = "1/m")
        public String plain() {
            return "42";
        }

        @MessageMapping("mono")
        @RateLimited(name = "mono", rate = "1/m")
        public Mono<String> mono() {
            return Mono.just("42");
        }

        @MessageMapping("held")
        @RateLimited(name = "held", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Flux<String> held() {
            return Flux.never();
        }

        @MessageMapping("keyed")
        @RateLimited(name = "keyed", rate = "1/m", keyExpression = "@quotes.absent()")
        public String keyed() {
            return "42";
        }

        @MessageMapping("broken")
        @RateLimited(name = "broken-request", rate = "1/m", keyExpression = "@quotes.key()")
        public String broken() {
            return "42";
        }

        public String absent() {
            return "";
        }

        public String key() {
            throw new IllegalStateException("a defect");
        }
    }

    @Controller
    static class OwnAnswers extends Quotes {

        @MessageExceptionHandler
        Mono<String> rejected(RateLimitExceededException rejection) {
            return Mono.just("slow down");
        }
    }
}
