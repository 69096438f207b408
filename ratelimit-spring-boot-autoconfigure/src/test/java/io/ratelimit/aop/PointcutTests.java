package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.LogRecorder;
import java.util.List;
import java.util.Map;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

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

    public static class ParentTarget implements FactoryMadeBeanTests.Parent {

        @Override
        public String inherited() {
            return "target";
        }

        public void own() {}
    }
}
