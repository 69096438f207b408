package io.ratelimit.autoconfigure.properties;

import io.ratelimit.autoconfigure.redis.RedisServerProperties;
import io.ratelimit.autoconfigure.redis.RedisStoreProperties;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;

/**
 * Describes a property as the records of {@link RateLimitProperties} declare it.
 *
 * @param name the canonical name of the property
 * @param type {@link RateLimitProperties} for {@code ratelimit} itself
 */
record PropertySchema(ConfigurationPropertyName name, ResolvableType type) {

    static final PropertySchema ROOT = new PropertySchema(
            ConfigurationPropertyName.of("ratelimit"), ResolvableType.forClass(RateLimitProperties.class));

    /**
     * Finds the property of this name, or its nearest existing parent.
     *
     * @return the root if no other part of the name exists
     */
    static PropertySchema nearest(ConfigurationPropertyName name) {
        PropertySchema property = ROOT;
        for (int i = ROOT.name.getNumberOfElements(); i < name.getNumberOfElements(); i++) {
            PropertySchema child = property.child(name, i);
            if (child == null) {
                return property;
            }
            property = child;
        }
        return property;
    }

    private @Nullable PropertySchema child(ConfigurationPropertyName of, int index) {
        if (isMap() || isList()) {
            ConfigurationPropertyName element = of.subName(index).chop(1);
            return isMap() || element.isNumericIndex(0)
                    ? new PropertySchema(name.append(element), type.getGeneric(isMap() ? 1 : 0))
                    : null;
        }
        PropertySchema component = component(of.getElement(index, Form.UNIFORM));
        boolean last = index + 1 == of.getNumberOfElements();
        // A single value is never a server, so that a misspelled property is found.
        return component == null && hasServers() && !last
                ? new PropertySchema(
                        name.append(of.subName(index).chop(1)), ResolvableType.forClass(RedisStoreProperties.class))
                : component;
    }

    private @Nullable PropertySchema component(String wanted) {
        return components()
                .filter(component -> LimitNames.canonical(component.getName()).equals(wanted))
                .map(component -> new PropertySchema(
                        name.append(LimitNames.kebabCase(component.getName())),
                        ResolvableType.forType(component.getParameterizedType())))
                .findFirst()
                .orElse(null);
    }

    /** Whether there are also Redis servers below the property, by their names. */
    boolean hasServers() {
        return name.equals(RedisServerProperties.REDIS);
    }

    /** Whether it is a Redis server by its name. */
    boolean isServer() {
        return type.resolve(Object.class) == RedisStoreProperties.class && !hasServers();
    }

    /** Returns the last parts of the names of the properties below. */
    List<String> children() {
        return components()
                .map(component -> LimitNames.kebabCase(component.getName()))
                .toList();
    }

    /** Returns the constructor's parameters, which Spring Boot binds. In a native image, record components are unknown. */
    private Stream<Parameter> components() {
        Class<?> record = type.resolve(Object.class);
        return record.isRecord()
                ? Arrays.stream(BeanUtils.getResolvableConstructor(record).getParameters())
                : Stream.empty();
    }

    /** Suggests what to set instead of a property that does not exist. */
    static String fixFor(ConfigurationPropertyName unknown) {
        PropertySchema parent = nearest(unknown);
        if (parent.name.equals(unknown)) {
            return "Number the elements of the list from 0, without gaps.";
        }
        String part = unknown.getElement(parent.name.getNumberOfElements(), Form.DASHED);
        String nearest = LimitNames.didYouMean(part, parent.children(), child -> parent.name + "." + child);
        return (nearest.isEmpty() && parent.isServer() ? RedisServerProperties.suggestion(parent.name) : nearest)
                + parent.describeChildren();
    }

    /** Describes the properties below the property. */
    String describeChildren() {
        if (isList()) {
            return name + " is a list: in YAML, write a dash before each of its elements.";
        }
        if (isMap()) {
            return "Under " + name + " there are the names of limits, each with properties such as rate.";
        }
        if (children().isEmpty()) {
            return name + " takes a single value.";
        }
        boolean elementOfMap =
                name.isLastElementIndexed() && nearest(name.getParent()).isMap();
        return (elementOfMap
                        ? name.getParent() + " is not a list: in YAML, write the names of limits without dashes. "
                        : "")
                + "Under " + name + " there are: " + String.join(", ", children())
                + (hasServers() ? ", and the names of further servers, each with properties such as url." : ".");
    }

    /** Whether the property has properties below it instead of a value. */
    boolean isParent() {
        return isMap()
                || (isList() ? type.getGeneric(0) : type).resolve(Object.class).isRecord();
    }

    boolean isList() {
        return Collection.class.isAssignableFrom(type.resolve(Object.class));
    }

    boolean isMap() {
        return Map.class.isAssignableFrom(type.resolve(Object.class));
    }
}
