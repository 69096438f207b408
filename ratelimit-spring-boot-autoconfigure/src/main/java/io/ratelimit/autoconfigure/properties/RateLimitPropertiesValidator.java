package io.ratelimit.autoconfigure.properties;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.diagnostics.ConfiguredProperties;
import io.ratelimit.autoconfigure.diagnostics.MistakenValue;
import io.ratelimit.autoconfigure.redis.RedisServerProperties;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.internal.limiter.RateLimitSettings;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Validates the properties before any bean is created. If a bean of the web server failed first, the server would log an
 * error of its own before the report.
 */
public record RateLimitPropertiesValidator(Environment environment) implements BeanFactoryPostProcessor {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String ALL_CALLERS =
            "In YAML, an unquoted # starts a comment. Quote the expression: \"#tenant\". For one bucket that all callers"
                    + " share, write all-callers.";

    private static final String EXPRESSION = "In YAML, an unquoted # starts a comment. Quote the expression: \"%s\".";

    /** An unresolved placeholder, which Spring Boot leaves in the value. */
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^:}]*)");

    /** Credentials of Redis, whose placeholder often has an empty default. */
    private static final Set<String> MAY_BE_EMPTY = Set.of("username", "password");

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        if (Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)) {
            // Some values may be known at start-up only.
            BuildTimeConditions.keep(beans, environment);
            return;
        }
        BuildTimeConditions.check(beans, environment);
        logIgnoredVariables();
        Binder binder = Binder.get(environment);
        new ConfiguredProperties(environment).below(PropertySchema.ROOT.name()).forEach(name -> check(name, binder));
        UnusedVariables variables = new UnusedVariables(environment);
        try {
            RateLimitProperties properties = RedisServerProperties.withoutServers(environment)
                    .bindOrCreate(
                            PropertySchema.ROOT.name().toString(),
                            Bindable.of(RateLimitProperties.class),
                            refusingUnknown(variables));
            RedisServerProperties.bind(environment, properties.redis(), refusingUnknown(BindHandler.DEFAULT));
            RateLimitSettings settings = properties.settings();
            if (beans.getBeanNamesForType(RateLimitAlgorithm.class, true, false).length == 0) {
                var unused = settings.with(AlgorithmCatalog.NONE, List.of());
            }
            properties.requestRules();
            if (!variables.names().isEmpty()) {
                logger.log(
                        Level.INFO,
                        "Environment variables that set no property, but can replace placeholders: " + variables.names()
                                + ". Write names without - and _: my-limit is MYLIMIT.");
            }
        } catch (BindException ex) {
            if (ex.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
                throw unknown(unbound.getUnboundProperties());
            }
            if (!(ex.getCause() instanceof ConversionException) || !hasConverters(beans)) {
                throw MistakenValue.describe(ex);
            }
        }
    }

    private void logIgnoredVariables() {
        if (environment instanceof ConfigurableEnvironment all
                && all.getPropertySources().get(ServiceVariables.SOURCE)
                        instanceof ServiceVariables.Variables ignored) {
            boolean ofServices = ignored.names().stream().noneMatch(ServiceVariables::isParent);
            logger.log(
                    ofServices ? Level.DEBUG : Level.INFO,
                    "Environment variables that are no properties are ignored: " + ignored.names());
        }
    }

    /** A property that exists and is unbound nevertheless is an element that follows a missing one. */
    private static RateLimitConfigurationException unknown(Set<ConfigurationProperty> properties) {
        return new RateLimitConfigurationException(
                join(properties, property -> {
                    ConfigurationPropertyName name = property.getName();
                    boolean exists = PropertySchema.nearest(name).name().equals(name);
                    return "There is no " + (exists ? "element before " : "property ") + name + " ("
                            + property.getOrigin() + ")";
                }),
                join(properties, property -> PropertySchema.fixFor(property.getName())));
    }

    private static String join(Set<ConfigurationProperty> properties, Function<ConfigurationProperty, String> text) {
        return properties.stream().map(text).distinct().collect(Collectors.joining(System.lineSeparator()));
    }

    private static BindHandler refusingUnknown(BindHandler handler) {
        return new NoUnboundElementsBindHandler(handler, new UnboundElementsSourceFilter());
    }

    /** Whether the application has converters for properties, which exist only once the properties become a bean. */
    private static boolean hasConverters(ConfigurableListableBeanFactory beans) {
        return beans.getBeanNamesForAnnotation(ConfigurationPropertiesBinding.class).length > 0;
    }

    private static void check(ConfigurationPropertyName name, Binder binder) {
        PropertySchema property = PropertySchema.nearest(name);
        Object value = binder.bind(name, Bindable.of(Object.class)).orElse("");
        if (!property.name().equals(name) || !BeanUtils.isSimpleValueType(value.getClass())) {
            return;
        }
        Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(property.type().resolve(Object.class));
        if (value instanceof Double number && number % 1 != 0 && Number.class.isAssignableFrom(type)) {
            throw MistakenValue.fraction(name, type, number);
        }
        String text = value.toString();
        if (property.isParent()) {
            checkParent(property, text);
        } else if (!text.isBlank()) {
            checkPlaceholders(name, text);
        } else if (!property.isList() && !mayBeEmpty(property.name())) {
            throw new RateLimitConfigurationException(
                    property.name() + " must not be empty.", fixForEmptyValue(property.name()));
        }
    }

    private static boolean mayBeEmpty(ConfigurationPropertyName name) {
        return RedisServerProperties.REDIS.isAncestorOf(name)
                && MAY_BE_EMPTY.contains(name.getLastElement(ConfigurationPropertyName.Form.UNIFORM));
    }

    private static void checkParent(PropertySchema property, String text) {
        if (!text.isBlank()) {
            throw new RateLimitConfigurationException(
                    property.name() + " must not have a value, but properties below it (was \"" + text + "\").",
                    property.describeChildren());
        }
    }

    private static void checkPlaceholders(ConfigurationPropertyName name, String text) {
        Matcher placeholder = PLACEHOLDER.matcher(text);
        if (placeholder.find()) {
            throw new RateLimitConfigurationException(
                    name + " must not have an unresolved placeholder (was \"" + text + "\").",
                    "Set the property " + placeholder.group(1) + ", or give the placeholder a default: ${"
                            + placeholder.group(1) + ":…}.");
        }
    }

    private static String fixForEmptyValue(ConfigurationPropertyName name) {
        return switch (name.getLastElement(ConfigurationPropertyName.Form.DASHED)) {
            case "key-expression" -> ALL_CALLERS;
            case "permits" -> EXPRESSION.formatted("#pages");
            case "permits-after" -> EXPRESSION.formatted("#result.tokens");
            case "condition" -> EXPRESSION.formatted("#tenant != 'internal'");
            default -> "Give it a value, or remove it.";
        };
    }
}
