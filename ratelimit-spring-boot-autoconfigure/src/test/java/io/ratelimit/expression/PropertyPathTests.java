package io.ratelimit.expression;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ReflectionUtils;

/** Whatever is read without SpEL is what SpEL gives, and whatever fails does so as with SpEL. */
class PropertyPathTests {

    private static final RateLimit LIMIT = RateLimit.named("it").rate("1/s").build();

    private final RateLimitExpressionParser expressions =
            new RateLimitExpressionParser(new DefaultListableBeanFactory(), method -> CallerFacts.NONE);

    private enum Reader {
        ITSELF,
        SPEL
    }

    static Stream<Arguments> calls() {
        Customer alice = new Customer("alice");
        return Stream.of(
                // Arguments.
                call("#user", Reader.ITSELF, "alice"),
                call("#p0", Reader.ITSELF, "alice"),
                call("#a0", Reader.ITSELF, "alice"),
                call("args[0]", Reader.ITSELF, "alice"),
                call("#root.args[0]", Reader.ITSELF, "alice"),
                call(" ( #user ) ", Reader.ITSELF, "alice"),
                call("#user", Reader.ITSELF, (Object) null),
                call("#user", Reader.ITSELF, 42),
                call("#user", Reader.ITSELF, (Object) new String[] {"alice"}),
                call("#order", Reader.ITSELF, "alice", 7),
                call("#root.args[1]", Reader.ITSELF, "alice", 7),
                call("#tags", Reader.ITSELF, "alice", 7, new String[] {"new"}),
                call("#root.args[2].length", Reader.SPEL, "alice", 7, new String[] {"new"}),
                call("args[3]", Reader.SPEL, "alice"),
                call("args[-1]", Reader.SPEL, "alice"),
                call("args['0']", Reader.SPEL, "alice"),
                call("#root", Reader.SPEL, "alice"),
                call("#this", Reader.SPEL, "alice"),
                call("#absent", Reader.SPEL, "alice"),
                call("args", Reader.SPEL, "alice"),
                call("#user + 'x'", Reader.SPEL, "alice"),
                call("#user.toString()", Reader.SPEL, "alice"),
                call("'#user'", Reader.SPEL, "alice"),
                // Properties.
                call("#user.customer.id", Reader.ITSELF, new Order(alice)),
                call("#user.customer", Reader.ITSELF, new Order(alice)),
                call("args[0].customer.id", Reader.ITSELF, new Order(alice)),
                call("#user?.customer?.id", Reader.ITSELF, new Order(alice)),
                call("#user.id", Reader.ITSELF, alice),
                call("#user.id", Reader.ITSELF, (Object) new Customer(null)),
                call("#user.urgent", Reader.ITSELF, new Order(alice)),
                call("#user.number", Reader.ITSELF, new Order(alice)),
                call("#user.Number", Reader.ITSELF, new Order(alice)),
                call("#user.bytes", Reader.ITSELF, "alice"),
                call("#user.customer.id", Reader.ITSELF, new OrderForAnother(alice)),
                call("#user.customer", Reader.ITSELF, new HiddenOrder(alice)),
                call("#user.text", Reader.ITSELF, new RecordStyle()),
                call("#user.text", Reader.ITSELF, new GetterAsWell()),
                call("#user.text", Reader.ITSELF, new FieldAndGetter()),
                call("#user.nothing", Reader.SPEL, new Order(alice)),
                call("#user.name", Reader.ITSELF, Thread.State.NEW),
                // What is peculiar, and what fails.
                call("#user.customer.id", Reader.SPEL, new Order(null)),
                call("#user?.customer?.id", Reader.SPEL, new Order(null)),
                call("#user.customer", Reader.SPEL, (Object) null),
                call("#user?.customer", Reader.SPEL, (Object) null),
                call("#user?.id", Reader.SPEL, Optional.of(alice)),
                call("#user?.id", Reader.SPEL, Optional.empty()),
                call("#user.present", Reader.SPEL, Optional.of(alice)),
                call("#user.name", Reader.SPEL, String.class),
                call("#user.length", Reader.SPEL, (Object) new String[] {"alice"}),
                call("#user.empty", Reader.SPEL, List.of("alice")),
                call("#user.id", Reader.SPEL, Map.of("id", "alice")),
                call("#user['id']", Reader.SPEL, Map.of("id", "alice")),
                call("#user.defect", Reader.SPEL, new Order(alice)),
                call("#user.error", Reader.SPEL, new Order(alice)),
                call("#user.secret", Reader.SPEL, new Order(alice)),
                call("#user.unknown", Reader.SPEL, new Order(alice)),
                call("#user.shared", Reader.SPEL, new Order(alice)));
    }

    private static Arguments call(String expression, Reader reader, Object... first) {
        Object[] arguments = new Object[3];
        System.arraycopy(first, 0, arguments, 0, first.length);
        return Arguments.of(expression, reader, arguments);
    }

    @ParameterizedTest
    @MethodSource("calls")
    void givesWhatSpelGives(String text, Reader reader, Object[] arguments) {
        assertReadAsBySpel(method("quote"), text, reader, arguments);
    }

    @Test
    void laterVariableHidesAnEarlierOne() {
        for (String text : List.of("#p0", "#p1", "#a0", "#a1", "args[0]", "#root.args[1]")) {
            assertReadAsBySpel(method("confusing"), text, Reader.ITSELF, "first", "second");
            assertReadAsBySpel(method("confusing"), text, Reader.ITSELF, "first", null);
        }
        assertReadAsBySpel(method("rooted"), "#root", Reader.SPEL, "first");
        assertReadAsBySpel(method("rooted"), "#root.args[0]", Reader.ITSELF, "first");
    }

    @Test
    void argumentsOfAnotherNumberAreLeftToSpel() {
        assertReadAsBySpel(method("quote"), "#user", Reader.SPEL, "alice");
        assertReadAsBySpel(method("quote"), "#tags", Reader.SPEL, "alice", 7, "new", "old");
    }

    static Stream<Arguments> requests() {
        return Stream.of(
                request("clientIp", Reader.ITSELF),
                request("#root.clientIp", Reader.ITSELF),
                request("clientIp.bytes", Reader.ITSELF),
                request("principal", Reader.ITSELF),
                request("principal.name", Reader.ITSELF),
                request("header('X-Api-Key')", Reader.ITSELF),
                request(" ( header( \"X-Api-Key\" ) ) ", Reader.ITSELF),
                request("#root.header('X-Api-Key')", Reader.ITSELF),
                request("header('Absent')", Reader.ITSELF),
                request("#tenant", Reader.ITSELF),
                request("#absent", Reader.ITSELF),
                request("header('Absent').bytes", Reader.SPEL),
                request("header('Broken')", Reader.SPEL),
                request("header(#tenant)", Reader.SPEL),
                request("header('X-Api-Key').length()", Reader.SPEL),
                request("header('X-Api-Key') + clientIp", Reader.SPEL),
                request("#root", Reader.SPEL),
                request("#this", Reader.SPEL));
    }

    private static Arguments request(String expression, Reader reader) {
        return Arguments.of(expression, reader);
    }

    @ParameterizedTest
    @MethodSource("requests")
    void factsOfARequestAreThoseOfSpel(String text, Reader reader) {
        SpelExpression expression = parse(text);
        PropertyPath path = PropertyPath.of(expression.getAST(), ExpressionScope.ofRequest("rule", List.of("tenant")));
        Evaluation request = new Evaluation(expressions, new Request(), Map.of("tenant", "acme"));
        assertReadAsBySpel(expression, path, reader, request);
    }

    @ParameterizedTest
    @ValueSource(strings = {"clientIp", "principal", "header('X-Api-Key')"})
    void outsideOfARequestFactsAreLeftToSpel(String text) {
        assertReadAsBySpel(method("quote"), text, Reader.SPEL, "alice", 7, null);
    }

    @Test
    void propertyIsLookedForInEachClassOfItsOwn() {
        Method method = method("quote");
        PropertyPath path =
                PropertyPath.of(parse("#user.text").getAST(), expressions.scope(method, method.getDeclaringClass()));
        assertThat(path).isNotNull();
        for (int i = 0; i < 2; i++) {
            for (Object user : List.of(new RecordStyle(), new GetterAsWell(), new FieldAndGetter())) {
                Object[] arguments = {user, null, null};
                Evaluation call = call(method, arguments);
                assertThat(path.read(call)).isEqualTo(parse("#user.text").getValue(call.context()));
            }
        }
    }

    private void assertReadAsBySpel(Method method, String text, Reader reader, Object... arguments) {
        SpelExpression expression = parse(text);
        PropertyPath path = PropertyPath.of(expression.getAST(), expressions.scope(method, method.getDeclaringClass()));
        assertReadAsBySpel(expression, path, reader, call(method, arguments));
    }

    private static void assertReadAsBySpel(
            SpelExpression expression, PropertyPath path, Reader reader, Evaluation call) {
        boolean read = path != null && path.read(call) != PropertyPath.UNREAD;
        assertThat(read).as("read without SpEL").isEqualTo(reader == Reader.ITSELF);
        assertThat(outcomes(expression, path, call))
                .isEqualTo(outcomes(parse(expression.getExpressionString()), null, call));
        if (read) {
            assertThat(path.read(call)).isEqualTo(expression.getValue(call.context()));
        }
    }

    private static List<Object> outcomes(Expression expression, PropertyPath path, Evaluation call) {
        RateLimitExpression read = new RateLimitExpression("it", expression, path, null, false);
        return List.of(
                outcome(() -> read.key(call, LIMIT)),
                outcome(() -> read.permits(call, LIMIT)),
                outcome(() -> read.condition(call, LIMIT)));
    }

    private static Object outcome(Supplier<Object> attempt) {
        try {
            return attempt.get();
        } catch (RateLimitExpressionException ex) {
            return ex.getMessage() + " because of " + ex.getCause();
        }
    }

    private Evaluation call(Method method, Object... arguments) {
        return new Evaluation(expressions, method, this, arguments, null, Map.of());
    }

    private static SpelExpression parse(String text) {
        return new SpelExpressionParser().parseRaw(text);
    }

    private static Method method(String name) {
        return Stream.of(ReflectionUtils.getAllDeclaredMethods(Methods.class))
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static final class Request implements RequestCall {

        private static final Principal ALICE = () -> "alice";

        @Override
        public String clientIp() {
            return "203.0.113.7";
        }

        @Override
        public Principal principal() {
            return ALICE;
        }

        @Override
        public String header(String name) {
            return switch (name) {
                case "X-Api-Key" -> "k1";
                case "Broken" -> throw new IllegalStateException("recycled");
                default -> null;
            };
        }
    }

    interface Methods {

        void quote(Object user, Object order, String... tags);

        void confusing(String p1, String a0);

        void rooted(String root);
    }

    public record Customer(String id) {}

    public static class Order {

        private final Customer customer;

        Order(Customer customer) {
            this.customer = customer;
        }

        public Customer getCustomer() {
            return customer;
        }

        public boolean isUrgent() {
            return true;
        }

        public int getNumber() {
            return 7;
        }

        public void getNothing() {}

        public String getDefect() {
            throw new IllegalStateException("a defect");
        }

        public String getError() {
            throw new AssertionError("an error");
        }

        String getSecret() {
            return "secret";
        }

        public static String getShared() {
            return "shared";
        }
    }

    public static class OrderForAnother extends Order {

        OrderForAnother(Customer customer) {
            super(customer);
        }

        @Override
        public Customer getCustomer() {
            return new Customer("not " + super.getCustomer().id());
        }
    }

    private static final class HiddenOrder extends Order {

        HiddenOrder(Customer customer) {
            super(customer);
        }

        @Override
        public Customer getCustomer() {
            return new Customer("hidden");
        }
    }

    public static class RecordStyle {

        public String text() {
            return "record";
        }
    }

    public static class GetterAsWell extends RecordStyle {

        public String getText() {
            return "getter";
        }
    }

    static class FieldAndGetter {

        public final String text = "field";

        public Object isText() {
            return "no boolean";
        }
    }
}
