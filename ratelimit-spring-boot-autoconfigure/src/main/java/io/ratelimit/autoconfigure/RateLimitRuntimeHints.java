package io.ratelimit.autoconfigure;

import io.ratelimit.actuate.SpringBoot3HealthIndicator;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.annotation.RateLimits;
import io.ratelimit.autoconfigure.properties.LimitProperties;
import io.ratelimit.autoconfigure.properties.Pointcuts;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.autoconfigure.redis.ApplicationRedisAutoConfiguration;
import io.ratelimit.autoconfigure.redis.RedisStoreProperties;
import io.ratelimit.expression.ExpressionRoot;
import io.ratelimit.expression.RequestRoot;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/** Registers what every application's native image needs: the script, the roots of expressions, and types used by name. */
final class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

    /**
     * Types whose presence the code asks for, or that it loads by name, besides those of {@link ApplicationRedisAutoConfiguration}. In
     * a native image, others seem to be absent.
     */
    static final List<String> BY_NAME = List.of(
            "com.google.rpc.RetryInfo",
            "io.grpc.protobuf.StatusProto",
            "io.lettuce.core.RedisClient",
            "io.micrometer.context.ContextSnapshotFactory",
            "io.netty.channel.EventLoop",
            "kotlinx.coroutines.Deferred",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.reactor.MonoKt",
            "org.aspectj.lang.annotation.Aspect",
            "org.aspectj.weaver.tools.PointcutParser",
            "org.reactivestreams.Publisher",
            "org.springframework.boot.autoconfigure.web.servlet.error.ErrorViewResolver",
            "org.springframework.boot.web.reactive.error.ErrorWebExceptionHandler",
            "org.springframework.boot.web.servlet.error.ErrorController",
            "org.springframework.boot.webflux.error.ErrorWebExceptionHandler",
            "org.springframework.boot.webmvc.autoconfigure.error.ErrorViewResolver",
            "org.springframework.boot.webmvc.error.ErrorController",
            ConfigurationRefresh.EVENT,
            "org.springframework.beans.factory.annotation.Autowired",
            "org.springframework.beans.factory.config.BeanFactoryPostProcessor",
            "org.springframework.http.HttpEntity",
            "org.springframework.security.concurrent.DelegatingSecurityContextRunnable",
            "org.springframework.security.core.context.ReactiveSecurityContextHolder",
            "org.springframework.session.data.redis.RedisSessionRepository",
            "org.springframework.security.web.SecurityFilterChain",
            "org.springframework.web.bind.annotation.RequestMapping",
            "org.springframework.web.reactive.function.server.EntityResponse",
            "reactor.core.publisher.Flux",
            "reactor.core.publisher.Mono",
            "reactor.core.scheduler.Schedulers");

    private static final String CONNECTIONS =
            "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

    private static final String HANDLERS =
            "org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter";

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources().registerPattern("io/ratelimit/redis/*.lua");
        ReflectionHints reflection = hints.reflection();
        Stream.of(RateLimited.class, RateLimits.class)
                .forEach(type -> reflection.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS));
        Stream.of(
                        ExpressionRoot.class,
                        RequestRoot.class,
                        LimitProperties.class,
                        LimitProperties.Plan.class,
                        LimitProperties.Defaults.class)
                .forEach(type -> reflection.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS));
        Stream.concat(BY_NAME.stream(), ApplicationRedisAutoConfiguration.BEANS.stream())
                .forEach(type -> reflection.registerTypeIfPresent(loader, type, present -> {}));
        BindableRuntimeHintsRegistrar.forTypes(
                        RateLimitProperties.class, RedisStoreProperties.class, Pointcuts.Limit.class)
                .registerHints(hints);
        // Fields without getters.
        reflection.registerTypeIfPresent(loader, CONNECTIONS, type -> type.withField("configuration"));
        reflection.registerTypeIfPresent(loader, HANDLERS, type -> type.withField("scheduler"));
        reflection.registerTypeIfPresent(loader, "org.quartz.JobDetail", MemberCategory.INVOKE_PUBLIC_METHODS);
        if (ClassUtils.isPresent(SpringBoot3HealthIndicator.TYPE, loader)) {
            Stream.of(SpringBoot3HealthIndicator.TYPE, SpringBoot3HealthIndicator.BUILDER)
                    .map(TypeReference::of)
                    .forEach(type -> reflection.registerType(
                            type, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS, MemberCategory.INVOKE_PUBLIC_METHODS));
            hints.proxies().registerJdkProxy(TypeReference.of(SpringBoot3HealthIndicator.TYPE));
        }
    }
}
