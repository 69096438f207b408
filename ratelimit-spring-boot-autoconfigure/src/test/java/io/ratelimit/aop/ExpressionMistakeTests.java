package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What an expression names must exist: it is looked up at start-up. */
class ExpressionMistakeTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "#userID | names #userID, but the method has no such parameter. | Did you mean #userId? Its parameters: #userId, #count.",
                "#p2 | names #p2, but the method has no such parameter. | Its parameters: #userId, #count.",
                "#zzz.length() | names #zzz, but the method has no such parameter. | Its parameters: #userId, #count.",
                "userId | names 'userId', which is not a property of a call. | Did you mean #userId?",
                "#userId + count | names 'count', which is not a property of a call. | Did you mean #count?",
                "nothing | names 'nothing', which is not a property of a call. | There are #parameterName",
                "@absent.name | names @absent, but there is no bean of that name. | Use the name of a bean. A test of a slice needs it by @Import.",
                "clientIp | uses clientIp, but this application runs neither Spring MVC nor WebFlux. | Use the method's parameters, or add spring-boot-starter-webmvc",
                "principal.name | uses principal, but this application runs neither Spring MVC nor WebFlux. | Use the method's parameters, or add spring-boot-starter-webmvc",
                "header('X-Api-Key') | uses header, but this application runs neither Spring MVC nor WebFlux. | Use the method's parameters, or add spring-boot-starter-webmvc",
                "haeder('X-Api-Key') | calls 'haeder()', which is not a method of a call. | Did you mean header('…')? There are #parameterName",
                "clientIP | names 'clientIP', which is not a property of a call. | Did you mean clientIp? There are",
                "principle.name | names 'principle', which is not a property of a call. | Did you mean principal?",
                "#root.arguments[0] | names 'arguments', which is not a property of a call. | There are #parameterName",
                "#userId. | cannot be parsed: | Write a SpEL expression such as \"#userId\".",
                "#userId) | cannot be parsed: | Write a SpEL expression such as \"#userId\".",
                "#{ #userId } | cannot be parsed: | Did you mean \"#userId\"? Write a SpEL expression such as \"#userId\".",
            })
    void expressionThatNamesWhatThereIsNotStopsTheStartUp(String expression, String what, String fix) {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + Quotes.class.getName() + ".quote(String, int)")
                            .contains("ratelimit.limits.quotes.key-expression \"" + expression + "\" " + what);
                    assertThat(analysis.getAction()).startsWith(fix);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"allCallers", "all-caller", "ALL_CALLERS", "all callers", "all"})
    void nearlyAllCallersStopsTheStartUp(String expression) {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains(
                                    "ratelimit.limits.quotes.key-expression must be an expression or all-callers (was \""
                                            + expression + "\").");
                    assertThat(analysis.getAction()).isEqualTo("Did you mean all-callers?");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "''"})
    void keyThatIsNeverThereStopsTheStartUp(String expression) {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("ratelimit.limits.quotes.key-expression must return a key (was \"" + expression
                                    + "\").");
                    assertThat(analysis.getAction())
                            .isEqualTo("Read what tells callers apart, or write all-callers for one bucket.");
                });
    }

    @Test
    void reactiveMethodOutsideOfTheWebKnowsNothingOfARequestButThePrincipal() {
        runner.withBean(ReactiveQuotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=principal")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withBean(ReactiveQuotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=clientIp")
                .run(context -> {
                    assertThat(analysis(context).getDescription())
                            .contains("uses clientIp, but this application runs neither Spring MVC nor WebFlux.");
                    assertThat(analysis(context).getAction()).isEqualTo("Use principal or the method's parameters.");
                });
    }

    @Test
    void annotationsAttributeIsNamedWhereTheMistakeStandsThere() {
        runner.withBean(Mistaken.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + Mistaken.class.getName() + ".quote(String)")
                    .contains("keyExpression \"#uesr\" names #uesr");
            assertThat(analysis.getAction()).startsWith("Did you mean #user?");
        });
    }

    @ParameterizedTest
    @CsvSource({"permits", "condition"})
    void otherExpressionsAreCheckedToo(String attribute) {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quotes." + attribute + "=#coutn")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.quotes." + attribute + " \"#coutn\" names #coutn"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "{'user': #userId}['user']",
                "#userId.bytes.length",
                "new String(#userId)",
                "T(java.util.UUID).nameUUIDFromBytes(#userId.bytes)",
                "#root.args[0]",
                "#root.method.declaringClass.simpleName",
                "getMethod().name",
                "{1, 2}.![#this + #count].toString()",
            })
    void soundExpressionIsAccepted(String expression) {
        runner.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    context.getBean(Quotes.class).quote("alice", 1);
                });
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "#order.tenantt | reads 'tenantt', which is not a property of io.ratelimit.aop.ExpressionMistakeTests$Order. | Did you mean tenant? There are: tenant, lines, buyer.",
                "#order?.tenantt | reads 'tenantt', which is not a property of | Did you mean tenant?",
                "#p0.tenantt | reads 'tenantt', which is not a property of | Did you mean tenant?",
                "#order.tenant.name | reads 'name', which is not a property of java.lang.String. | There are:",
                "#orders[0].tenantt | reads 'tenantt', which is not a property of | Did you mean tenant?",
                "#count.value | reads 'value', which is not a property of java.lang.Integer. | There are",
                "'a' + #order.tenantt | reads 'tenantt', which is not a property of | Did you mean tenant?",
                "#order.lines | must return a single value with its own toString() (was java.util.List). | Read a property",
                "#orders | must return a single value with its own toString() (was io.ratelimit.aop.ExpressionMistakeTests$Order[]). | Read",
                "#order.buyer | must return a single value with its own toString() (was io.ratelimit.aop.ExpressionMistakeTests$Buyer). | Read",
                "#order['tenantt'] | reads 'tenantt', which is not a property of io.ratelimit.aop.ExpressionMistakeTests$Order. | Did you mean tenant?",
                "#order.tenantt() | calls 'tenantt()', which is not a method of io.ratelimit.aop.ExpressionMistakeTests$Order. | Did you mean tenant()? ",
                "#order.getRegion() | calls 'getRegion()', which is not a method of io.ratelimit.aop.ExpressionMistakeTests$Order. | There are: buyer(), equals(), hashCode(), lines(), tenant(), toString().",
                "#order.tenant.lenght() | calls 'lenght()', which is not a method of java.lang.String. | Did you mean length()? ",
                "#count.intVale() | calls 'intVale()', which is not a method of java.lang.Integer. | Did you mean intValue()? ",
                "('a' + #count).lenght() | calls 'lenght()', which is not a method of java.lang.String. | Did you mean length()? ",
                "T(java.util.UUID).frmString(#note) | calls 'frmString()', which is not a method of java.util.UUID. | Did you mean fromString()? ",
                "#some.tenantt | reads 'tenantt', which is not a property of java.util.Optional. | There are: ",
                "#some.tenant | reads 'tenant', which is not a property of java.util.Optional. | There are: ",
                "#some.gett() | calls 'gett()', which is not a method of java.util.Optional. | Did you mean get()? ",
            })
    void keyThatItsDeclaredTypeCannotHaveStopsTheStartUp(String expression, String what, String fix) {
        runner.withBean(Orders.class)
                .withPropertyValues("ratelimit.limits.orders.key-expression=" + expression)
                .run(context -> {
                    assertThat(analysis(context).getDescription())
                            .contains("ratelimit.limits.orders.key-expression \"" + expression + "\" " + what);
                    assertThat(analysis(context).getAction()).startsWith(fix);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "mono, reactor.core.publisher.Mono",
        "flux, reactor.core.publisher.Flux",
        "publisher, org.reactivestreams.Publisher",
        "flow, java.util.concurrent.Flow$Publisher",
        "stage, java.util.concurrent.CompletionStage",
        "completable, java.util.concurrent.CompletableFuture",
        "future, java.util.concurrent.Future"
    })
    void valueThatIsNotWaitedForStopsTheStartUp(String method, String type) {
        for (String attribute : List.of("key-expression", "plan-expression", "permits", "permits-after", "condition")) {
            String expression = "@later." + method + "()";
            runner.withBean(Quotes.class)
                    .withBean("later", Later.class, Later::new)
                    .withPropertyValues(
                            "ratelimit.limits.quotes.key-expression=#userId",
                            "ratelimit.limits.quotes.plans.gold.capacity=2",
                            "ratelimit.limits.quotes." + attribute + "=" + expression)
                    .run(context -> {
                        assertThat(analysis(context).getDescription())
                                .contains("ratelimit.limits.quotes." + attribute + " \"" + expression
                                        + "\" must return the value itself, because nothing waits for it (was " + type
                                        + ").");
                        assertThat(analysis(context).getAction()).startsWith("Determine the value before the call");
                    });
        }
    }

    static class Later {

        public Mono<String> mono() {
            return Mono.just("a");
        }

        public Flux<String> flux() {
            return Flux.just("a");
        }

        public Publisher<String> publisher() {
            return mono();
        }

        public Flow.Publisher<String> flow() {
            return new SubmissionPublisher<>();
        }

        public CompletionStage<String> stage() {
            return completable();
        }

        public CompletableFuture<String> completable() {
            return CompletableFuture.completedFuture("a");
        }

        public Future<String> future() {
            return completable();
        }
    }

    /** A value may be of a subclass that has more than its declared type. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "#order",
                "#order.tenant",
                "#order.buyer.id",
                "#order.buyer.loyalty",
                "#order.lines.size()",
                "#order.lines[0]",
                "#orders.length",
                "#count",
                "#anything",
                "#anything.whatever",
                "#note.orElse('')",
                "#note?.length()",
                "#note",
                "#note?.orElse('')",
                "#note?.present",
                "#some?.tenant",
                "#some?.tenant()",
                "#some.get().tenant",
                "#order['tenant']",
                "#order.tenant()",
                "#order.buyer.getLoyalty()",
                "#order.buyer['loyalty']",
                "#anything['whatever']",
                "#order.hashCode()",
                "(#count + #count).intValue()",
                "#orders.^[tenant != null].tenant",
                "#orders.?[tenant != null].length",
                "{'a': 'b'}['a'].length()",
                "T(java.util.UUID).randomUUID().toString()",
                "T(java.util.UUID).getSimpleName()",
                "T(Integer).MAX_VALUE",
                "T(Integer).parseInt('7').byteValue()",
                "new String[] {'a', 'b'}.length",
                "new String('a').length()"
            })
    void keyThatItsDeclaredTypeMayHaveIsAccepted(String expression) {
        runner.withBean(Orders.class)
                .withPropertyValues("ratelimit.limits.orders.key-expression=" + expression)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Order order = new Order("acme", List.of("apples"), new LoyalBuyer());
                    context.getBean(Orders.class)
                            .order(
                                    order,
                                    new Order[] {order},
                                    1,
                                    new LoyalBuyer(),
                                    Optional.of("note"),
                                    Optional.of(order));
                });
    }

    /** What is neither a number nor its text is no number of permits, and a condition is true or false. */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "permits | #order | must return a whole number (was io.ratelimit.aop.ExpressionMistakeTests$Order).",
                "permits | #orders | must return a whole number (was io.ratelimit.aop.ExpressionMistakeTests$Order[]).",
                "permits | #order.lines.empty | must return a whole number (was boolean).",
                "permits | #some | must return a whole number (was java.util.Optional).",
                "permits | true | must return a whole number (was java.lang.Boolean).",
                "permits | new java.util.ArrayList() | must return a whole number (was java.util.ArrayList).",
                "condition | #order.tenant | must return true or false (was java.lang.String).",
                "condition | #count | must return true or false (was int).",
                "condition | #order.tenant.length() | must return true or false (was int).",
                "condition | 'true' | must return true or false (was java.lang.String).",
            })
    void numberOrConditionThatItsDeclaredTypeCannotBeStopsTheStartUp(String attribute, String expression, String what) {
        runner.withBean(Orders.class)
                .withPropertyValues("ratelimit.limits.orders." + attribute + "=" + expression)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.orders." + attribute + " \"" + expression + "\" " + what));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "permits | #count",
                "permits | '2'",
                "permits | #anything == null ? 1 : 2",
                "permits | #count + #count",
                "permits | #order.lines.size()",
                "permits | #note.orElse('2').length()",
                "permits | (#some ?: #order).lines.size()",
                "permits | T(java.util.Optional).of(2) ?: 1",
                "permits | {1, 2}.^[#this > 1]",
                "permits | T(java.time.Duration).ofMinutes(2).dividedBy(T(java.time.Duration).ofMinutes(1))",
                "condition | #order.lines.empty",
                "condition | #order.tenant matches 'a'",
                "condition | #note.present",
                "condition | #anything.flag",
                "condition | !#some.isEmpty()",
            })
    void numberOrConditionThatItsDeclaredTypeMayBeIsAccepted(String attribute, String expression) {
        runner.withBean(Orders.class)
                .withPropertyValues(
                        "ratelimit.limits.orders." + attribute + "=" + expression, "ratelimit.limits.orders.capacity=9")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Order order = new Order("acme", List.of("apples"), new LoyalBuyer());
                    context.getBean(Orders.class)
                            .order(
                                    order,
                                    new Order[] {order},
                                    1,
                                    new LoyalBuyer(),
                                    Optional.of("note"),
                                    Optional.of(order));
                });
    }

    /** A type parameter stands for the type that a subclass of the bean, or of the parameter's class, gives it. */
    @ParameterizedTest
    @CsvSource({
        "key-expression, #order.tenantt",
        "permits-after, #result.tenantt",
        "key-expression, #page.first.tenantt",
    })
    void propertyThatNoValueOfATypeParameterHasStopsTheStartUp(String attribute, String expression) {
        runner.withBean(OrderHandler.class)
                .withPropertyValues("ratelimit.limits.handled." + attribute + "=" + expression)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("reads 'tenantt', which is not a property of " + Order.class.getName()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#order.tenant", "#page.first.tenant", "#batches.first.size()", "#batches.first[0].tenant"})
    void propertyThatValuesOfATypeParameterHaveIsAccepted(String expression) {
        Order order = new Order("acme", List.of(), new Buyer());
        runner.withBean(OrderHandler.class)
                .withPropertyValues("ratelimit.limits.handled.key-expression=" + expression)
                .run(context -> context.getBean(OrderHandler.class)
                        .handle(order, new OrderPage(order), new Batches<>(List.of(order))));
    }

    record Order(String tenant, List<String> lines, Buyer buyer) {}

    static class Buyer {

        public String getId() {
            return "7";
        }
    }

    static class LoyalBuyer extends Buyer {

        public String getLoyalty() {
            return "gold";
        }

        public boolean isFlag() {
            return true;
        }

        public String getWhatever() {
            return "whatever";
        }

        @Override
        public String toString() {
            return "loyal";
        }
    }

    static class Orders {

        @RateLimited(name = "orders", rate = "1/s")
        public void order(
                Order order, Order[] orders, int count, Object anything, Optional<String> note, Optional<Order> some) {}
    }

    static class Handler<T> {

        @RateLimited(name = "handled", rate = "1/s")
        public T handle(T order, OrderPage page, Batches<T> batches) {
            return order;
        }
    }

    static class OrderHandler extends Handler<Order> {}

    public static class Page<T> {

        private final T first;

        Page(T first) {
            this.first = first;
        }

        public T getFirst() {
            return first;
        }
    }

    public static class OrderPage extends Page<Order> {

        OrderPage(Order first) {
            super(first);
        }
    }

    public static class Batches<T> extends Page<List<T>> {

        Batches(List<T> first) {
            super(first);
        }
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote(String userId, int count) {}
    }

    static class Mistaken {

        @RateLimited(rate = "1/s", keyExpression = "#uesr")
        public void quote(String user) {}
    }

    static class ReactiveQuotes {

        @RateLimited(name = "quotes", rate = "1/s")
        public Mono<String> quote() {
            return Mono.just("42");
        }
    }
}
