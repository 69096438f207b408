package io.ratelimit.expression;

import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;

/**
 * Reads an argument, a variable of a URL's path, a fact of the request, or a path of properties without SpEL: {@code #user},
 * {@code #root.args[0]}, {@code #order.customer.id}, {@code clientIp}, {@code header('X-Api-Key')}. Most keys are such paths, and
 * evaluating them with SpEL takes ten times as long as a decision. Returns the same value as SpEL, or {@link #UNREAD}.
 */
final class PropertyPath {

    /** The value must be read by SpEL. */
    static final Object UNREAD = new Object();

    /** Matches the normalized text of an expression. */
    private static final Pattern PATH = Pattern.compile("(?:#(?<variable>(?!root\\b|this\\b)\\w+)"
            + "|(?:#root\\.)?(?:args\\[(?<index>\\d{1,3})]|(?<fact>clientIp|principal)|header\\('(?<header>[^']+)'\\)))"
            + "(?<properties>(?:\\??\\.\\w+)*)");

    private static final Pattern NAME = Pattern.compile("\\w+");

    private final Function<Evaluation, @Nullable Object> start;

    private final PropertyReader[] properties;

    private PropertyPath(Function<Evaluation, @Nullable Object> start, PropertyReader[] properties) {
        this.start = start;
        this.properties = properties;
    }

    /** Returns the path, or {@code null} if the expression is something else. */
    static @Nullable PropertyPath of(SpelNode expression, ExpressionScope scope) {
        Matcher path = PATH.matcher(expression.toStringAST());
        Function<Evaluation, @Nullable Object> start = path.matches() ? start(path, scope) : null;
        return start == null ? null : new PropertyPath(start, readers(path.group("properties")));
    }

    private static @Nullable Function<Evaluation, @Nullable Object> start(Matcher path, ExpressionScope scope) {
        String header = path.group("header");
        if (header != null) {
            return evaluation -> evaluation.header(header);
        }
        String fact = path.group("fact");
        if (fact != null) {
            return fact.equals("clientIp") ? Evaluation::clientIp : Evaluation::principal;
        }
        String variable = path.group("variable");
        if (variable != null && !scope.isOfMethod()) {
            return evaluation -> evaluation.requestVariable(variable);
        }
        int count = scope.method() == null ? 0 : MethodSignatures.parameterCount(scope.method());
        Integer position = variable == null
                ? Integer.valueOf(path.group("index"))
                : scope.arguments().get(variable);
        return position == null || position >= count
                ? null
                : evaluation -> argument(evaluation.passed(), position, count);
    }

    /** Leaves calls with another number of arguments to SpEL. */
    private static @Nullable Object argument(@Nullable Object[] passed, int position, int count) {
        return passed.length == count ? passed[position] : UNREAD;
    }

    private static PropertyReader[] readers(String properties) {
        return NAME.matcher(properties)
                .results()
                .map(name -> new PropertyReader(name.group()))
                .toArray(PropertyReader[]::new);
    }

    /** Returns the value, or {@link #UNREAD}, also if the request cannot be read, so that SpEL reports the failure. */
    @Nullable
    Object read(Evaluation evaluation) {
        Object value;
        try {
            value = start.apply(evaluation);
        } catch (RuntimeException ex) {
            return UNREAD;
        }
        for (PropertyReader property : properties) {
            if (value == null || value == UNREAD) {
                return UNREAD;
            }
            value = property.read(value);
        }
        return value;
    }
}
