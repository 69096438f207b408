package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitCustomizer;
import io.ratelimit.spi.RateLimitKeyContext;
import io.ratelimit.spi.RateLimitKeyResolver;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.OwnAlgorithms;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;

/** Methods that the configuration limits, without an annotation. */
class PointcutTests {

    private static final String HERE = PointcutTests.class.getName();

    private static final String CLIENT = "execution(* " + HERE + ".Client.*(..))";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Client.class);

    private ApplicationContextRunner limiting(String limit, String pointcut) {
        return runner.withPropertyValues(
                "ratelimit.limits." + limit + ".rate=1/s", "ratelimit.limits." + limit + ".pointcut=" + pointcut);
    }

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "execution(* io.ratelimit.aop.PointcutTests.Client.fetch(String))",
                "execution(* io.ratelimit.aop.PointcutTests.Cl*.f*(..)) and !execution(* *..failing(..))",
                "within(io.ratelimit.aop.PointcutTests.Client) && execution(* fetch(..))",
                "target(io.ratelimit.aop.PointcutTests.Client) && execution(* fetch(..))",
                "@annotation(java.lang.Deprecated) && within(io.ratelimit.aop..*)",
            })
    void matchedMethodIsLimitedByTheKeyOfTheConfiguration(String pointcut) {
        limiting("clients", pointcut)
                .withPropertyValues("ratelimit.limits.clients.key-expression=#id")
                .run(context -> {
                    Client client = context.getBean(Client.class);
                    client.fetch("a");
                    assertRejected("clients", () -> client.fetch("a"));
                    client.fetch("b");
                    client.other();
                    client.other();
                });
    }

    @Test
    void everyAttributeOfTheConfigurationApplies() {
        limiting("clients", CLIENT)
                .withPropertyValues(
                        "ratelimit.limits.clients.capacity=5",
                        "ratelimit.limits.clients.permits=#root.args.length + 1",
                        "ratelimit.limits.clients.condition=#root.method.name == 'fetch'")
                .run(context -> {
                    Client client = context.getBean(Client.class);
                    client.fetch("a");
                    client.fetch("b");
                    client.other();
                    assertRejected("clients", () -> client.fetch("c"));
                    assertThat(context.getBean(RecordingListener.class).charges())
                            .extracting(Charge::permits)
                            .containsExactly(2L, 2L, 2L);
                });
    }

    /** The starter calls it, to find the key of the very call. */
    @Test
    void beanThatFindsTheKeyIsNotLimited() {
        limiting("clients", "within(" + HERE + ".*)")
                .withBean("keys", Keys.class)
                .withPropertyValues("ratelimit.limits.clients.key-resolver=keys")
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    assertThat(outcomes(context)).containsExactly("clients ALLOWED");
                });
    }

    /** Each call of a limited method would ask it. */
    @Test
    void executorOfTheApplicationIsNotLimited() {
        limiting("clients", "within(" + HERE + ".*)").withBean(Executor.class).run(context -> {
            assertThat(AopUtils.isAopProxy(context.getBean(Client.class))).isTrue();
            assertThat(AopUtils.isAopProxy(context.getBean(RateLimitScriptExecutor.class)))
                    .isFalse();
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {OwnAlgorithms.Batches.class, Customizer.class})
    void beanThatTheLimitsAreMadeWithIsNotLimited(Class<?> type) {
        limiting("clients", CLIENT + " || within(" + type.getName().replace('$', '.') + ")")
                .withBean(type)
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    assertThat(outcomes(context)).containsExactly("clients ALLOWED");
                });
    }

    @Test
    void annotatedAndMatchedMethodIsChargedToBoth() {
        limiting("clients", "execution(* " + HERE + ".Annotated.*(..))")
                .withBean(Annotated.class)
                .run(context -> {
                    context.getBean(Annotated.class).call();
                    assertThat(outcomes(context)).containsExactly("annotated ALLOWED", "clients ALLOWED");
                });
    }

    @Test
    void limitOfTheAnnotationThatMatchesTooIsChargedOnce() {
        runner.withBean(Annotated.class)
                .withPropertyValues(
                        "ratelimit.limits.annotated.pointcut=execution(* " + HERE + ".Annotated.*(..)) || " + CLIENT)
                .run(context -> {
                    context.getBean(Annotated.class).call();
                    assertThat(outcomes(context)).containsExactly("annotated ALLOWED");
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void methodsShareTheLimitOfAnAnnotationWhicheverBeanIsFirst(boolean annotatedFirst) {
        Class<?> first = annotatedFirst ? Annotated.class : Client.class;
        Class<?> second = annotatedFirst ? Client.class : Annotated.class;
        LimitedContexts.inMemory()
                .withBean("first", first)
                .withBean("second", second)
                .withPropertyValues(
                        "ratelimit.limits.annotated.pointcut=" + CLIENT, "ratelimit.limits.annotated.rate=1/h")
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    context.getBean(Annotated.class).call();
                    assertRejected("annotated", context.getBean(Client.class)::other);
                });
    }

    @Test
    void methodsShareTheLimitOfAnAnnotationInABeanThatIsCreatedLater() {
        runner.withBean(Annotated.class, Annotated::new, definition -> definition.setLazyInit(true))
                .withPropertyValues(
                        "ratelimit.limits.annotated.pointcut=" + CLIENT, "ratelimit.limits.annotated.rate=1/h")
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    context.getBean(Annotated.class).call();
                    assertRejected("annotated", context.getBean(Client.class)::other);
                });
    }

    @Test
    void methodsShareTheLimitOfABean() {
        runner.withBean(
                        "limit",
                        RateLimit.class,
                        () -> RateLimit.named("exports").rate("1/m").build())
                .withPropertyValues("ratelimit.limits.exports.pointcut=" + CLIENT)
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    assertRejected(
                            "exports", () -> context.getBean(Client.class).fetch("b"));
                });
    }

    @Test
    void severalPointcutsMatchOneMethod() {
        limiting("clients", CLIENT)
                .withPropertyValues(
                        "ratelimit.limits.fetches.rate=5/s", "ratelimit.limits.fetches.pointcut=execution(* fetch(..))")
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    assertThat(outcomes(context)).containsExactlyInAnyOrder("clients ALLOWED", "fetches ALLOWED");
                });
    }

    @Test
    void disabledLimitChargesNothing() {
        limiting("clients", CLIENT)
                .withPropertyValues("ratelimit.limits.clients.enabled=false")
                .run(context -> {
                    context.getBean(Client.class).fetch("a");
                    context.getBean(Client.class).fetch("a");
                    assertThat(outcomes(context)).isEmpty();
                });
    }

    @Test
    void methodOfAnInterfaceIsLimitedInTheClass() {
        limiting("clients", "execution(* " + HERE + ".Port.*(..))")
                .withBean(Adapter.class)
                .run(context -> {
                    Port port = context.getBean(Port.class);
                    port.send("a");
                    assertRejected("clients", () -> port.send("a"));
                    context.getBean(Adapter.class).own();
                });
    }

    @ParameterizedTest
    @EnumSource
    void interfaceWithoutAClassIsLimitedWithWhatItInherits(FactoryMadeBeanTests.Style style) {
        LimitedContexts.inMemory()
                .withBean(
                        "child",
                        FactoryMadeBeanTests.PlainChildFactory.class,
                        () -> new FactoryMadeBeanTests.PlainChildFactory(style))
                .withPropertyValues(
                        "ratelimit.limits.children.rate=1/s",
                        "ratelimit.limits.children.pointcut=execution(* "
                                + FactoryMadeBeanTests.PlainChild.class
                                        .getName()
                                        .replace('$', '.') + ".*(..))")
                .run(context -> {
                    FactoryMadeBeanTests.PlainChild child = context.getBean(FactoryMadeBeanTests.PlainChild.class);
                    assertThat(child.inherited()).isEqualTo("inherited");
                    assertRejected("children", child::inherited);
                    assertRejected("children", () -> child.find("a"));
                    assertThat(context.getBean(LimitedBeans.class).check().values())
                            .flatExtracting(Map::keySet)
                            .containsExactly(
                                    FactoryMadeBeanTests.Parent.class.getName() + ".inherited()",
                                    FactoryMadeBeanTests.PlainChild.class.getName() + ".find(String)");
                });
    }

    @Test
    void proxyThatIsMoreThanItsTargetIsLimitedAsAWhole() {
        ProxyFactory factory = new ProxyFactory();
        factory.setTarget(new ParentTarget());
        factory.setInterfaces(FactoryMadeBeanTests.PlainChild.class);
        factory.addAdvice((MethodInterceptor) invocation -> "advice");
        LimitedContexts.inMemory()
                .withBean("child", FactoryMadeBeanTests.PlainChild.class, () ->
                        (FactoryMadeBeanTests.PlainChild) factory.getProxy())
                .withPropertyValues(
                        "ratelimit.limits.children.rate=1/s",
                        "ratelimit.limits.children.pointcut=execution(* own()) || execution(* "
                                + FactoryMadeBeanTests.PlainChild.class
                                        .getName()
                                        .replace('$', '.') + ".*(..))")
                .run(context -> {
                    FactoryMadeBeanTests.PlainChild child = context.getBean(FactoryMadeBeanTests.PlainChild.class);
                    assertThat(child.inherited()).isEqualTo("advice");
                    assertRejected("children", child::inherited);
                });
    }

    /** Of no module, also if they could not be proxied. */
    @Test
    void beansOfTheStarterAreNotLimited() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.redis.url=redis://127.0.0.1:1",
                        "ratelimit.limits.all.rate=1/s",
                        "ratelimit.limits.all.pointcut=within(io.ratelimit..*)")
                .run(context ->
                        assertThat(context).getFailure().hasMessageContaining("matches no public method of any bean"));
    }

    @Test
    void lambdaIsLimitedByItsInterface() {
        limiting("clients", "execution(* " + HERE + ".Port.*(..))")
                .withBean("port", Port.class, () -> message -> {})
                .run(context -> {
                    context.getBean(Port.class).send("a");
                    assertRejected("clients", () -> context.getBean(Port.class).send("a"));
                });
    }

    @Test
    void broadPatternMeansPublicMethodsOfObjects() {
        limiting("clients", "within(" + HERE + ".Client)").run(context -> {
            assertThat(context).hasNotFailed();
            Client client = context.getBean(Client.class);
            Client.helper();
            client.hidden();
            var unused = client.hashCode();
            assertThat(client.toString()).isNotEmpty();
            assertThat(outcomes(context)).isEmpty();
            client.other();
            assertThat(outcomes(context)).containsExactly("clients ALLOWED");
        });
    }

    @Test
    void whatMakesBeansOrListensToDecisionsIsLeftAlone() {
        limiting("clients", "within(" + HERE + ".*)")
                .withUserConfiguration(Factories.class)
                .withBean(Auditor.class)
                .withBean(Port.class, () -> message -> {})
                .withBean(PortListener.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    var unused = context.getBean(Factories.class).text();
                    context.getBean(Auditor.class).audit();
                    assertThat(context.getBean("&number")).isInstanceOf(NumberFactory.class);
                    assertThat(outcomes(context)).isEmpty();
                    context.getBean(Client.class).other();
                    assertThat(outcomes(context)).containsExactly("clients ALLOWED");
                });
    }

    /** Otherwise a request would pay for each of them, and a rejection of the last would be a failure of the handler. */
    @Test
    void methodsThatSpringCallsBesidesTheHandlersOfRequestsAreLeftOut() {
        limiting("web", "within(" + HERE + ".Quote*)")
                .withBean(QuoteController.class)
                .withBean(QuoteAdvice.class)
                .run(context -> {
                    QuoteController controller = context.getBean(QuoteController.class);
                    controller.model();
                    controller.bind();
                    context.getBean(QuoteAdvice.class).failed();
                    assertThat(outcomes(context)).isEmpty();
                    controller.handleWithModel();
                    assertRejected("web", controller::handle);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"within(%s.QuoteAdvice)", "execution(* %s.Quote*.failed())"})
    void methodThatSpringCallsBesidesTheHandlersIsLimitedIfThePointcutMatchesNothingElse(String pointcut) {
        limiting("advice", pointcut.formatted(HERE))
                .withBean(QuoteController.class)
                .withBean(QuoteAdvice.class)
                .run(context -> {
                    QuoteAdvice advice = context.getBean(QuoteAdvice.class);
                    advice.failed();
                    assertRejected("advice", advice::failed);
                });
    }

    @Test
    void logNamesTheMethodsAsItDoesAnnotatedOnes() {
        limiting("clients", "execution(* " + HERE + ".Client.fetch(..))")
                .run(context -> assertThat(log.text())
                        .contains("Rate limit 'clients': TOKEN_BUCKET, capacity 1 at 1/s, key all-callers, on "
                                + Client.class.getName() + ".fetch(String); declared by the configuration alone"));
    }

    private static List<String> outcomes(ApplicationContext context) {
        return context.getBean(RecordingListener.class).outcomes();
    }

    public static class Client {

        @Deprecated
        public void fetch(String id) {}

        public void other() {}

        public void failing() {
            throw new IllegalStateException();
        }

        public static void helper() {}

        void hidden() {}
    }

    public static class Annotated {

        @RateLimited(name = "annotated", capacity = 2, rate = "2/h")
        public void call() {}
    }

    public interface Port {

        void send(String message);
    }

    public static class Adapter implements Port {

        @Override
        public void send(String message) {}

        public void own() {}
    }

    public static class QuoteController {

        @GetMapping
        public void handle() {}

        @GetMapping
        @ModelAttribute
        public void handleWithModel() {}

        @ModelAttribute
        public void model() {}

        @InitBinder
        public void bind() {}
    }

    public static class QuoteAdvice {

        @ExceptionHandler
        public void failed() {}
    }

    public static class ParentTarget implements FactoryMadeBeanTests.Parent {

        @Override
        public String inherited() {
            return "target";
        }

        public void own() {}
    }

    @Configuration
    static class Factories {

        @Bean
        public String text() {
            return "text";
        }

        @Bean
        public NumberFactory number() {
            return new NumberFactory();
        }
    }

    public static class NumberFactory implements FactoryBean<Integer> {

        @Override
        public Integer getObject() {
            return 1;
        }

        @Override
        public Class<?> getObjectType() {
            return Integer.class;
        }
    }

    @Aspect
    public static class Auditor {

        public void audit() {}
    }

    public static class PortListener implements RateLimitListener {

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {}
    }

    static class Keys implements RateLimitKeyResolver {

        @Override
        public Object resolve(RateLimitKeyContext call) {
            return "alice";
        }
    }

    static class Executor implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            throw new UnsupportedOperationException();
        }
    }

    static class Customizer implements RateLimitCustomizer {

        @Override
        public void customize(String name, RateLimitBuilder limit) {
            limit.capacity(1);
        }
    }
}
