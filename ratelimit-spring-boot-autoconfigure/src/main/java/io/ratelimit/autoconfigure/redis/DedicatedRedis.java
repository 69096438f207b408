package io.ratelimit.autoconfigure.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limiter.AlgorithmCatalog;
import io.ratelimit.redis.connection.RedisConnector;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslManagerBundle;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.RedisConfiguration.WithDatabaseIndex;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Connects to a Redis for rate limits alone. Reads {@code ratelimit.redis} as Spring Boot reads {@code spring.data.redis}, and
 * creates no bean that others could take for the application's Redis.
 */
final class DedicatedRedis {

    private static final int PORT = 6379;

    private DedicatedRedis() {}

    /** @param property the prefix of the properties, for messages */
    static RedisConnector connect(
            String property,
            RedisStoreProperties redis,
            AlgorithmCatalog algorithms,
            ObjectProvider<SslBundles> bundles) {
        if (!ClassUtils.isPresent("io.lettuce.core.RedisClient", DedicatedRedis.class.getClassLoader())) {
            throw new RateLimitConfigurationException(
                    redis.isDedicated()
                            ? property + " must have no connection properties without Lettuce on the class path."
                            : "ratelimit.store must be in-memory without a RedisConnectionFactory bean (was redis).",
                    "Configure spring.data.redis instead, or add io.lettuce:lettuce-core (with"
                            + " spring.data.redis.client-type=jedis, your own commands still use Jedis).");
        }
        return new Lettuce(property, redis).connect(algorithms, bundles);
    }

    /** Not loaded without Lettuce. */
    private record Lettuce(String property, RedisStoreProperties redis) {

        RedisConnector connect(AlgorithmCatalog algorithms, ObjectProvider<SslBundles> bundles) {
            RedisURI uri = redis.url() == null ? null : parse(redis.url());
            return new RedisConnector(
                    servers(uri),
                    client(uri, bundles),
                    redis.timeout(),
                    redis.script(algorithms),
                    redis.library(algorithms));
        }

        private RedisURI parse(String url) {
            try {
                return RedisURI.create(url);
            } catch (RuntimeException ex) {
                throw new RateLimitConfigurationException(
                        property + ".url must be a Redis URL (was \"" + url.replaceFirst("//[^/]*@", "//…@") + "\").",
                        "Write it like redis://user:password@host:6379/0, or rediss:// for TLS.");
            }
        }

        private RedisConfiguration servers(@Nullable RedisURI uri) {
            if (uri != null) {
                RedisConfiguration servers = LettuceConnectionFactory.createRedisConfiguration(uri);
                if (redis.database() != null) {
                    ((WithDatabaseIndex) servers).setDatabase(redis.database());
                }
                return hasCredentials(servers) ? servers : authenticated(servers);
            }
            if (redis.sentinel() != null) {
                return sentinels(redis.sentinel());
            }
            if (redis.cluster() != null) {
                return authenticated(cluster(redis.cluster()));
            }
            RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(
                    redis.host() == null ? "localhost" : redis.host(), redis.port() == null ? PORT : redis.port());
            server.setDatabase(database());
            return authenticated(server);
        }

        private RedisConfiguration sentinels(RedisStoreProperties.Sentinel sentinel) {
            if (sentinel.master() == null || sentinel.nodes().isEmpty()) {
                throw new RateLimitConfigurationException(
                        property + ".sentinel must have a master and nodes.",
                        "Set " + property + ".sentinel.master and " + property + ".sentinel.nodes.");
            }
            RedisSentinelConfiguration servers = new RedisSentinelConfiguration().master(sentinel.master());
            nodes(property + ".sentinel.nodes", sentinel.nodes()).forEach(servers::addSentinel);
            servers.setSentinelUsername(StringUtils.hasText(sentinel.username()) ? sentinel.username() : null);
            servers.setSentinelPassword(RedisPassword.of(sentinel.password()));
            servers.setDatabase(database());
            return authenticated(servers);
        }

        private RedisClusterConfiguration cluster(RedisStoreProperties.Cluster cluster) {
            if (cluster.nodes().isEmpty()) {
                throw new RateLimitConfigurationException(
                        property + ".cluster must have nodes.", "Set " + property + ".cluster.nodes.");
            }
            RedisClusterConfiguration servers = new RedisClusterConfiguration();
            nodes(property + ".cluster.nodes", cluster.nodes()).forEach(servers::addClusterNode);
            if (cluster.maxRedirects() != null) {
                servers.setMaxRedirects(cluster.maxRedirects());
            }
            return servers;
        }

        private static Stream<RedisNode> nodes(String property, List<String> nodes) {
            return nodes.stream().map(node -> {
                try {
                    return RedisNode.fromString(node);
                } catch (IllegalArgumentException ex) {
                    throw new RateLimitConfigurationException(
                            property + " must name each node as host:port (was \"" + node + "\").",
                            "Write it like redis-1.example.com:6379.");
                }
            });
        }

        private int database() {
            return redis.database() == null ? 0 : redis.database();
        }

        private static boolean hasCredentials(RedisConfiguration servers) {
            return servers instanceof WithAuthentication user
                    && (user.getUsername() != null || user.getPassword().isPresent());
        }

        private RedisConfiguration authenticated(RedisConfiguration servers) {
            if (servers instanceof WithAuthentication user) {
                user.setUsername(StringUtils.hasText(redis.username()) ? redis.username() : null);
                user.setPassword(RedisPassword.of(redis.password()));
            }
            return servers;
        }

        private LettuceClientConfiguration client(@Nullable RedisURI uri, ObjectProvider<SslBundles> bundles) {
            LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder();
            if (uri != null) {
                client.apply(uri);
            }
            RedisStoreProperties.Ssl ssl = redis.ssl();
            if (ssl != null && ssl.isUsed()) {
                client.useSsl();
                if (ssl.bundle() != null) {
                    client.clientOptions(options(bundles.getObject().getBundle(ssl.bundle())));
                }
            }
            if (redis.clientName() != null) {
                client.clientName(redis.clientName());
            }
            return client.build();
        }

        private static ClientOptions options(SslBundle bundle) {
            SslManagerBundle managers = bundle.getManagers();
            SslOptions.Builder ssl = SslOptions.builder()
                    .keyManager(managers.getKeyManagerFactory())
                    .trustManager(managers.getTrustManagerFactory());
            if (bundle.getOptions().getCiphers() != null) {
                ssl.cipherSuites(bundle.getOptions().getCiphers());
            }
            if (bundle.getOptions().getEnabledProtocols() != null) {
                ssl.protocols(bundle.getOptions().getEnabledProtocols());
            }
            return ClusterClientOptions.builder().sslOptions(ssl.build()).build();
        }
    }
}
