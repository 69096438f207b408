package io.ratelimit.internal.limit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table of attributes: what the starter knows of one attribute of a limit.
 *
 * @param <T> the type of its values
 */
public final class Attribute<T> {

    private final String name;

    private final Function<String, T> parser;

    private final Function<T, String> formatter;

    private @Nullable T otherwise;

    private Predicate<AttributeValues> inherited = values -> true;

    private boolean changeable;

    private final List<Rule<T>> rules = new ArrayList<>();

    private Attribute(String name, Function<String, T> parser, Function<T, String> formatter) {
        this.name = name;
        this.parser = parser;
        this.formatter = formatter;
    }

    /** Creates an attribute that is never stored as text. */
    public static <T> Attribute<T> of(String name) {
        return new Attribute<>(
                name,
                text -> {
                    throw new IllegalArgumentException(name + " has no text");
                },
                Object::toString);
    }

    public static Attribute<String> text(String name) {
        return new Attribute<>(name, Function.identity(), Function.identity());
    }

    public static Attribute<Long> number(String name) {
        return new Attribute<>(name, Long::valueOf, String::valueOf);
    }

    public static Attribute<Boolean> flag(String name) {
        return new Attribute<>(name, Boolean::valueOf, String::valueOf);
    }

    public static Attribute<Duration> duration(String name) {
        return new Attribute<>(name, Duration::parse, DurationText::of);
    }

    public static Attribute<List<Duration>> durations(String name) {
        return new Attribute<>(
                name,
                text -> Arrays.stream(text.split(",", -1)).map(Duration::parse).toList(),
                all -> all.stream().map(DurationText::of).collect(Collectors.joining(" then ")));
    }

    public static <E extends Enum<E>> Attribute<E> choice(String name, Class<E> type) {
        return new Attribute<>(
                name, text -> Enum.valueOf(type, text), value -> value.name().toLowerCase(Locale.ROOT));
    }

    /** Sets the value of limits that do not set the attribute. */
    public Attribute<T> otherwise(T value) {
        otherwise = value;
        return this;
    }

    /** Limits the defaults of all limits to those limits that can have the attribute. */
    public Attribute<T> inheritedIf(Predicate<AttributeValues> condition) {
        inherited = condition;
        return this;
    }

    /** Lets an override set the attribute. */
    public Attribute<T> changeable() {
        changeable = true;
        return this;
    }

    /**
     * Adds a rule that each value must keep, whatever the other attributes are.
     *
     * @param rule follows "must" in messages
     * @param breach returns the part of a value that breaks the rule; {@code null}: none
     * @param fix says what to write instead
     */
    public Attribute<T> must(String rule, Function<T, @Nullable Object> breach, String fix) {
        rules.add(new Rule<>(rule, breach, fix));
        return this;
    }

    /** Passes on the rules that a value breaks, in their order. */
    @SuppressWarnings("unchecked")
    void check(Object value, Mistakes mistakes) {
        for (Rule<T> rule : rules) {
            Object was = rule.breach.apply((T) value);
            if (was != null) {
                mistakes.found(this, rule.text, was, rule.fix);
            }
        }
    }

    private record Rule<T>(String text, Function<T, @Nullable Object> breach, String fix) {}

    /** Receives mistakes in values. */
    @FunctionalInterface
    public interface Mistakes {

        /**
         * Receives a rule that a value breaks.
         *
         * @param was the part of the value that breaks it
         */
        void found(Attribute<?> attribute, String rule, Object was, String fix);
    }

    /** Returns the name in camel case. */
    public String name() {
        return name;
    }

    /** Returns the name as a property has it. */
    public String property() {
        return LimitNames.kebabCase(name);
    }

    /** Returns whether an override can set the attribute. */
    public boolean isChangeable() {
        return changeable;
    }

    boolean isInheritedBy(AttributeValues values) {
        return inherited.test(values);
    }

    @Nullable
    T otherwise() {
        return otherwise;
    }

    /** Returns the value with a text that {@link AttributeValues#store} has returned. */
    public T parse(String text) {
        return parser.apply(text);
    }

    /** Formats a value for messages. */
    @SuppressWarnings("unchecked")
    public String format(Object value) {
        return formatter.apply((T) value);
    }
}
