package io.ratelimit.autoconfigure.redis;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.env.Environment;

/**
 * Reads the properties of further Redis servers. Their names are beside the properties of the first Redis, where no binder
 * expects names: whatever has properties below it and is no property of {@link RedisStoreProperties} is a server.
 */
public final class RedisServerProperties {

    public static final ConfigurationPropertyName REDIS = ConfigurationPropertyName.of("ratelimit.redis");

    /** The name that limits have for the Redis of {@code ratelimit.redis} itself. */
    static final String DEFAULT = "default";

    /** The names of the properties of {@link RedisStoreProperties}, as Spring Boot binds them. */
    private static final List<String> PROPERTIES = Arrays.stream(
                    BeanUtils.getResolvableConstructor(RedisStoreProperties.class)
                            .getParameters())
            .map(parameter -> LimitNames.kebabCase(parameter.getName()))
            .toList();

    private RedisServerProperties() {}

    /** Returns the names of the servers as they are written, by their names in lower case without dashes and underscores. */
    public static Map<String, String> names(Environment environment) {
        return LimitNames.distinct(read(environment, BindHandler.DEFAULT).keySet()).stream()
                .collect(Collectors.toMap(LimitNames::canonical, Function.identity()));
    }

    /**
     * Returns the properties of each server, completed by those of {@code ratelimit.redis}, by its name as it is written.
     *
     * @param handler applied to the properties of servers
     * @throws RateLimitConfigurationException if a server has no address or an invalid one
     */
    public static Map<String, RedisStoreProperties> bind(
            Environment environment, RedisStoreProperties base, BindHandler handler) {
        base.check(REDIS.toString());
        Map<String, RedisStoreProperties> found = read(environment, handler);
        Map<String, RedisStoreProperties> servers = new LinkedHashMap<>();
        // All spellings of a name are bound to the same values.
        LimitNames.distinct(found.keySet()).forEach(name -> {
            String property = property(name);
            check(name, Objects.requireNonNull(found.get(name)));
            RedisStoreProperties server = complete(environment, property, base);
            server.check(property);
            server.checkAddress(property);
            var unused = server.keyHash(property);
            servers.put(name, server);
        });
        return servers;
    }

    /** Variables of the environment with unknown names, such as those of Kubernetes, are bound to nothing and make no server. */
    private static Map<String, RedisStoreProperties> read(Environment environment, BindHandler handler) {
        return binder(environment, RedisServerProperties::isOfServer, List.of())
                .bind(REDIS, Bindable.mapOf(String.class, RedisStoreProperties.class), handler)
                .orElse(Map.of());
    }

    /** Returns the property that a server of this name is configured by. */
    static String property(String name) {
        return REDIS + "." + name;
    }

    /** Binds the properties of a server again, over those of {@code ratelimit.redis} that are not about its connection. */
    private static RedisStoreProperties complete(Environment environment, String property, RedisStoreProperties base) {
        ConfigurationPropertyName server = ConfigurationPropertyName.adapt(property, '.');
        Binder own = binder(environment, server::isAncestorOf, List.of());
        boolean ownHash = Stream.of("hash-keys", "hash-keys-secret")
                .anyMatch(name ->
                        own.bind(server.append(name), Bindable.of(Object.class)).isBound());
        MapConfigurationPropertySource inherited = new MapConfigurationPropertySource();
        inherited.put(property + ".key-prefix", base.keyPrefix());
        inherited.put(property + ".timeout", base.timeout());
        inherited.put(property + ".remember-rejections", base.rememberRejections());
        inherited.put(property + ".functions", base.functions());
        inherited.put(property + ".clock", base.clock());
        if (!ownHash && base.hashKeys()) {
            inherited.put(property + ".hash-keys", true);
            String secret = base.hashKeysSecret();
            if (secret != null) {
                inherited.put(property + ".hash-keys-secret", secret);
            }
        }
        return binder(environment, server::isAncestorOf, List.of(inherited))
                .bindOrCreate(server, Bindable.of(RedisStoreProperties.class), BindHandler.DEFAULT);
    }

    private static void check(String name, RedisStoreProperties server) {
        if (!LimitNames.isValid(name)) {
            throw new RateLimitConfigurationException(
                    REDIS + " must have names of servers of letters, digits, '-' and '_' (was \"" + name + "\").",
                    "Rename the server.");
        }
        if (LimitNames.canonical(name).equals(DEFAULT)) {
            throw new RateLimitConfigurationException(
                    property(name) + " must not be set, because this name stands for the Redis of " + REDIS
                            + " itself.",
                    "Set " + REDIS + ".url, or rename the server.");
        }
        if (server.addresses().isEmpty()) {
            throw new RateLimitConfigurationException(
                    property(name) + " must tell where the server is.",
                    suggestion(ConfigurationPropertyName.of(property(name)))
                            + "Set url, host, sentinel, cluster or connection-factory below it.");
        }
    }

    /** Suggests a property of the first Redis that the name of a server may be a misspelling of. */
    public static String suggestion(ConfigurationPropertyName server) {
        return LimitNames.didYouMean(server.getLastElement(Form.DASHED), PROPERTIES, nearest -> REDIS + "." + nearest);
    }

    /** Returns a binder that does not see the properties of servers. */
    public static Binder withoutServers(Environment environment) {
        return binder(environment, name -> !isOfServer(name), List.of());
    }

    private static Binder binder(
            Environment environment,
            Predicate<ConfigurationPropertyName> visible,
            List<ConfigurationPropertySource> behind) {
        Stream<ConfigurationPropertySource> sources = StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .map(source -> source.filter(visible));
        return new Binder(
                Stream.concat(sources, behind.stream()).toList(), new PropertySourcesPlaceholdersResolver(environment));
    }

    private static boolean isOfServer(ConfigurationPropertyName name) {
        int depth = REDIS.getNumberOfElements();
        return REDIS.isAncestorOf(name)
                && name.getNumberOfElements() > depth + 1
                && PROPERTIES.stream()
                        .map(LimitNames::canonical)
                        .noneMatch(name.getElement(depth, Form.UNIFORM)::equals);
    }
}
