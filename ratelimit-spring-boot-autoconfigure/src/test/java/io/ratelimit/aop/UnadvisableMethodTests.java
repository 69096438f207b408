package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.elsewhere.PackagePrivateBase;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.testing.LogRecorder;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;

/** Methods that no proxy intercepts, and results that a proxy cannot make. */
class UnadvisableMethodTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @ParameterizedTest
    @ValueSource(classes = {Private.class, Static.class, Final.class, FinalBelowAnnotatedType.class})
    void methodThatNoProxyInterceptsStopsTheStartUp(Class<?> type) {
        runner.withBean(type).run(context -> {
            FailureAnalysis analysis = analysis(context);
            String modifier = List.of("Private", "Static", "Final").stream()
                    .filter(word -> type.getSimpleName().startsWith(word))
                    .findFirst()
                    .orElseThrow()
                    .toLowerCase(Locale.ROOT);
            assertThat(analysis.getDescription())
                    .contains("Where: " + type.getName() + ".call()")
                    .contains("must apply to methods that a proxy can intercept (was " + modifier);
            assertThat(analysis.getAction())
                    .isEqualTo("Make it public or protected, neither static nor final, and call it from another bean.");
        });
    }

    /** No bean inherits it, so that only a look at the interface finds it. */
    @Test
    void staticMethodOfAnInterfaceStopsTheStartUp() {
        runner.withBean(OfStaticInterface.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + StaticInInterface.class.getName() + ".call()")
                        .contains("must apply to methods that a proxy can intercept (was static"));
    }

    @Test
    void methodThatOnlyItsOwnPackageSeesStopsTheStartUpOfAnother() {
        runner.withBean(BelowAnotherPackage.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + PackagePrivateBase.class.getName() + ".hidden()")
                        .contains("package-private in another package than " + BelowAnotherPackage.class.getName()));
    }

    @Test
    void finalMethodOfAnotherTypeIsOnlyWarnedOf() {
        runner.withBean(BelowAFinalMethod.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(log.text())
                    .contains(WithAFinalMethod.class.getName() + ".call() is not covered by the @RateLimited of "
                            + BelowAFinalMethod.class.getName() + ", because it is final");
        });
    }

    @Test
    void finalClassWithoutInterfaceStopsTheStartUp() {
        runner.withBean(FinalClass.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains(FinalClass.class.getName())
                    .contains("must apply to a class that can be proxied (was final, without an interface)");
            assertThat(analysis.getAction())
                    .isEqualTo("Make the class non-final, or declare the method in an interface.");
        });
    }

    @Test
    void methodOutsideOfTheInterfacesOfAJdkProxyStopsTheStartUp() {
        runner.withBean("quotes", OffInterface.class, OffInterface::new)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + OffInterface.class.getName() + ".off()")
                            .contains("the bean 'quotes' is proxied by its interfaces");
                    assertThat(analysis.getAction())
                            .isEqualTo("Declare the method in an interface; or, if the class is not final, set"
                                    + " spring.aop.proxy-target-class=true.");
                });
    }

    @Test
    void jdkProxyLimitsAMethodOfAGenericInterface() {
        runner.withBean("handler", HandlerOfTexts.class, HandlerOfTexts::new)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> {
                    @SuppressWarnings("unchecked")
                    Handler<String> handler = context.getBean(Handler.class);
                    handler.handle("a");
                    assertRejected("handler-of-texts-handle", () -> handler.handle("b"));
                });
    }

    @ParameterizedTest
    @CsvSource({
        "ReturnsOwnFuture, java.util.concurrent.CompletableFuture",
        "ReturnsConnectableFlux, reactor.core.publisher.Flux"
    })
    void methodWhoseResultCannotBeMadeByOthersStopsTheStartUp(String type, String instead) {
        runner.withBean(nested(type)).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + nested(type).getName() + ".call()")
                    .contains("the return type of a limited method must be " + instead + " or a supertype of it (was ");
            assertThat(analysis.getAction()).isEqualTo("Return " + instead + ".");
        });
    }

    private static Class<?> nested(String name) {
        return Arrays.stream(UnadvisableMethodTests.class.getDeclaredClasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"prototype", "lazy"})
    void beansThatAreNotCreatedYetAreCheckedToo(String kind) {
        runner.withBean(Final.class, Final::new, definition -> {
                    definition.setLazyInit(kind.equals("lazy"));
                    definition.setScope(kind.equals("prototype") ? "prototype" : "singleton");
                })
                .run(context -> assertThat(analysis(context).getDescription()).contains(Final.class.getName()));
    }

    static class Private {

        @RateLimited(rate = "1/s")
        private void call() {}

        void use() {
            call();
        }
    }

    static class Static {

        @RateLimited(rate = "1/s")
        public static void call() {}
    }

    interface StaticInInterface {

        @RateLimited(rate = "1/s")
        static void call() {}
    }

    static class OfStaticInterface implements StaticInInterface {}

    static class Final {

        @RateLimited(rate = "1/s")
        public final void call() {}
    }

    @RateLimited(rate = "1/s")
    static class FinalBelowAnnotatedType {

        public final void call() {}
    }

    static class WithAFinalMethod {

        public final void call() {}
    }

    @RateLimited(rate = "1/s")
    static class BelowAFinalMethod extends WithAFinalMethod {

        public void open() {}
    }

    static final class FinalClass {

        @RateLimited(rate = "1/s")
        public void call() {}
    }

    interface Quotes {

        void on();
    }

    static class OffInterface implements Quotes {

        @Override
        public void on() {}

        @RateLimited(rate = "1/s")
        public void off() {}
    }

    interface Handler<T> {

        void handle(T item);
    }

    static class HandlerOfTexts implements Handler<String> {

        @Override
        @RateLimited(rate = "1/s")
        public void handle(String item) {}
    }

    static class OwnFuture extends CompletableFuture<String> {}

    static class ReturnsOwnFuture {

        @RateLimited(rate = "1/s")
        public OwnFuture call() {
            return new OwnFuture();
        }
    }

    static class ReturnsConnectableFlux {

        @RateLimited(rate = "1/s")
        public ConnectableFlux<String> call() {
            return Flux.just("").publish();
        }
    }

    static class BelowAnotherPackage extends PackagePrivateBase {}
}
