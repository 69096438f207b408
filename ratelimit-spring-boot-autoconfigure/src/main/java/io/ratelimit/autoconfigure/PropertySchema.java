package io.ratelimit.autoconfigure;

import io.ratelimit.LimitNames;
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
 * Describes which properties there are, as the records of {@link RateLimitProperties} declare them.
 *
 * @param name the property's, as the documentation spells it
 * @param type {@link RateLimitProperties} for {@code ratelimit} itself
 */
record PropertySchema(ConfigurationPropertyName name, ResolvableType type) {

    static final PropertySchema ROOT = new PropertySchema(
            ConfigurationPropertyName.of("ratelimit"), ResolvableType.forClass(RateLimitProperties.class));

    /**
     * Follows a name as far as it names properties.
     *
     * @return the property itself, or the last of those above it that there is
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
        String wanted = of.getElement(index, Form.UNIFORM);
        return components()
                .filter(component -> LimitNames.canonical(component.getName()).equals(wanted))
                .map(component -> new PropertySchema(
                        name.append(LimitNames.kebabCase(component.getName())),
                        ResolvableType.forType(component.getParameterizedType())))
                .findFirst()
                .orElse(null);
    }

    /** The names of the properties below, without what they have in common. */
    List<String> children() {
        return components()
                .map(component -> LimitNames.kebabCase(component.getName()))
                .toList();
    }

    /** Those of the constructor, which Spring Boot binds by: in a native image, records do not know their components. */
    private Stream<Parameter> components() {
        Class<?> record = type.resolve(Object.class);
        return record.isRecord()
                ? Arrays.stream(BeanUtils.getResolvableConstructor(record).getParameters())
                : Stream.empty();
    }

    /** Whether it has properties below it, and no value. */
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
