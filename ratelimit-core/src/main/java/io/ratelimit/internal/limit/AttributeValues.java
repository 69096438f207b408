package io.ratelimit.internal.limit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Values of attributes, and where they come from. Immutable. Merged attribute by attribute. */
public final class AttributeValues {

    /** No attribute is set. */
    public static final AttributeValues NONE = new AttributeValues(Map.of());

    private final Map<Attribute<?>, Value> values;

    private AttributeValues(Map<Attribute<?>, Value> values) {
        this.values = values;
    }

    /** Returns these values with another one, of the application's code; {@code null}: the attribute is not set. */
    public <T> AttributeValues with(Attribute<T> attribute, @Nullable T value) {
        return with(attribute, value, null);
    }

    /**
     * Returns these values with another one.
     *
     * @param prefix of the property that the value was read from, without the attribute; {@code null}: none
     */
    public AttributeValues with(Attribute<?> attribute, @Nullable Object value, @Nullable String prefix) {
        Map<Attribute<?>, Value> next = new HashMap<>(values);
        if (value == null) {
            next.remove(attribute);
        } else {
            next.put(attribute, new Value(value instanceof List<?> list ? List.copyOf(list) : value, prefix, null));
        }
        return new AttributeValues(next);
    }

    /** Returns these values, with another one if the attribute is not set. */
    public <T> AttributeValues orElse(Attribute<T> attribute, T value, String prefix) {
        return has(attribute) ? this : with(attribute, value, prefix);
    }

    /** Returns these values where others do not set the attribute. */
    public AttributeValues overriddenBy(AttributeValues others) {
        Map<Attribute<?>, Value> next = new HashMap<>(values);
        next.putAll(others.values);
        return new AttributeValues(next);
    }

    /**
     * Returns these values as those of an override that is in force.
     *
     * @param end describes when it ends
     */
    public AttributeValues inForce(String end) {
        Map<Attribute<?>, Value> next = new HashMap<>(values);
        next.replaceAll((attribute, value) -> new Value(value.value, value.prefix, end));
        return new AttributeValues(next);
    }

    /** Returns these values, with that of the defaults if the attribute is not set and can be inherited. */
    public AttributeValues inherit(Attribute<?> attribute, AttributeValues defaults) {
        Value inherited = defaults.values.get(attribute);
        return inherited == null || has(attribute) || !attribute.isInheritedBy(this)
                ? this
                : with(attribute, inherited.value, inherited.prefix);
    }

    public boolean isEmpty() {
        return values.isEmpty();
    }

    public boolean has(Attribute<?> attribute) {
        return values.containsKey(attribute);
    }

    /** Returns the value; {@code null}: not set. */
    @SuppressWarnings("unchecked")
    public <T> @Nullable T get(Attribute<T> attribute) {
        Value found = values.get(attribute);
        return found == null ? null : (T) found.value;
    }

    /** Returns the value, or what it is if it is not set. */
    public <T> T effective(Attribute<T> attribute) {
        T set = get(attribute);
        return set != null ? set : Objects.requireNonNull(attribute.otherwise());
    }

    /** Returns the property that the value was read from; {@code null}: none. */
    public @Nullable String property(Attribute<?> attribute) {
        Value found = values.get(attribute);
        return found == null || found.prefix == null ? null : found.prefix + "." + attribute.property();
    }

    /** Describes when the override ends that sets the value; {@code null}: none sets it. */
    public @Nullable String overrideEnd(Attribute<?> attribute) {
        Value found = values.get(attribute);
        return found == null ? null : found.end;
    }

    /** Returns the name of an attribute as its author wrote it: the property that it was read from, or else the attribute. */
    public String label(Attribute<?> attribute) {
        String property = property(attribute);
        return property == null ? attribute.name() : property;
    }

    /** Passes on the rules of an attribute that its value breaks, if it is set. */
    public void check(Attribute<?> attribute, Attribute.Mistakes mistakes) {
        Value found = values.get(attribute);
        if (found != null) {
            attribute.check(found.value, mistakes);
        }
    }

    /** Formats the value of an attribute that is set, for {@link Attribute#parse}. */
    public String store(Attribute<?> attribute) {
        Object value = Objects.requireNonNull(values.get(attribute)).value;
        return value instanceof List<?> list
                ? list.stream().map(Object::toString).collect(Collectors.joining(","))
                : value.toString();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AttributeValues those && plain().equals(those.plain());
    }

    @Override
    public int hashCode() {
        return plain().hashCode();
    }

    /** Returns the values without the properties. */
    private Map<Attribute<?>, Object> plain() {
        return values.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().value));
    }

    private record Value(
            Object value, @Nullable String prefix, @Nullable String end) {}
}
