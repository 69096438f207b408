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
import org.springframework.util.StringUtils;

/**
 * Connects to a Redis for rate limits alone, with Lettuce. Reads {@code ratelimit.redis} as Spring Boot reads
 * {@code spring.data.redis}, and creates no bean that others could take for the application's Redis.
 *
 * @param property the prefix of the properties, for messages
 */
record DedicatedRedis(String property, RedisStoreProperties redis) {

    private static final int PORT = 6379;

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

    /** Returns the servers. The properties complete what a URL leaves out. */
    private RedisConfiguration servers(@Nullable RedisURI uri) {
        RedisConfiguration servers = addresses(uri);
        if (redis.database() != null && servers instanceof WithDatabaseIndex databases) {
            databases.setDatabase(redis.database());
        }
        if (servers instanceof WithAuthentication user
                && user.getUsername() == null
                && !user.getPassword().isPresent()) {
            user.setUsername(StringUtils.hasText(redis.username()) ? redis.username() : null);
            user.setPassword(RedisPassword.of(redis.password()));
        }
        return servers;
    }

    private RedisConfiguration addresses(@Nullable RedisURI uri) {
        if (uri != null) {
            return LettuceConnectionFactory.createRedisConfiguration(uri);
        }
        if (redis.sentinel() != null) {
            return sentinels(redis.sentinel());
        }
        if (redis.cluster() != null) {
            return cluster(redis.cluster());
        }
        return new RedisStandaloneConfiguration(
                redis.host() == null ? "localhost" : redis.host(), redis.port() == null ? PORT : redis.port());
    }

    private RedisSentinelConfiguration sentinels(RedisStoreProperties.Sentinel sentinel) {
        if (sentinel.master() == null || sentinel.nodes().isEmpty()) {
            throw new RateLimitConfigurationException(
                    property + ".sentinel must have a master and nodes.",
                    "Set " + property + ".sentinel.master and " + property + ".sentinel.nodes.");
        }
        RedisSentinelConfiguration servers = new RedisSentinelConfiguration().master(sentinel.master());
        nodes(property + ".sentinel.nodes", sentinel.nodes()).forEach(servers::addSentinel);
        servers.setSentinelUsername(StringUtils.hasText(sentinel.username()) ? sentinel.username() : null);
        servers.setSentinelPassword(RedisPassword.of(sentinel.password()));
        return servers;
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
