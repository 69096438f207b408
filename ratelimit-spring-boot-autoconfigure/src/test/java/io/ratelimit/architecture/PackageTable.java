package io.ratelimit.architecture;

import static java.util.Map.entry;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Map;

/**
 * Which packages each package may use, besides the root, what the root uses, and itself. That a module does not know another one, or a library, is held by
 * its class path.
 */
final class PackageTable extends ArchCondition<JavaClass> {

    /** By package, those that it may use. */
    private static final Map<String, List<String>> USES = Map.ofEntries(
            entry("", List.of("internal.limit")),
            entry("internal.limit", List.of()),
            entry("spi", List.of("internal.concurrent")),
            entry("event", List.of()),
            entry("internal.concurrent", List.of()),
            entry("internal.memory", List.of("spi", "internal.store")),
            entry("internal.store", List.of("spi", "internal.concurrent")),
            entry("internal.store.failover", List.of("event", "spi", "internal.store", "internal.concurrent")),
            entry("internal.store.lease", List.of("spi", "internal.store", "internal.concurrent")),
            entry("internal.store.rejection", List.of("spi", "internal.store")),
            entry("internal.store.scope", List.of("spi", "internal.store", "internal.concurrent")),
            entry("internal.limiter", List.of("spi", "internal.store", "internal.concurrent")),
            entry(
                    "internal.change",
                    List.of("event", "spi", "internal.store", "internal.limiter", "internal.concurrent")),
            entry("internal.statistics", List.of("spi", "internal.concurrent")),
            entry("redis", List.of()),
            entry("redis.script", List.of("redis", "spi", "internal.store", "internal.concurrent")),
            entry("redis.door", List.of("redis", "redis.script", "internal.store", "internal.concurrent")),
            entry("redis.batch", List.of("redis", "redis.door", "redis.script", "spi", "internal.concurrent")),
            entry("redis.permit", List.of("redis.batch", "redis.door", "redis.script", "spi", "internal.concurrent")),
            entry("redis.settlement", List.of("redis", "redis.door", "redis.script", "spi", "internal.concurrent")),
            entry(
                    "redis.store",
                    List.of(
                            "redis.batch",
                            "redis.door",
                            "redis.permit",
                            "redis.script",
                            "redis.settlement",
                            "spi",
                            "internal.concurrent",
                            "internal.store")),
            entry("redis.connection", List.of("redis", "redis.door", "internal.concurrent")),
            entry("redis.change", List.of("redis.connection", "redis.door", "internal.change", "internal.concurrent")),
            entry("redis.statistics", List.of("redis.connection", "internal.statistics")),
            entry("standalone", List.of("spi", "internal.limiter", "internal.memory")),
            entry(
                    "redis.standalone",
                    List.of(
                            "redis",
                            "redis.connection",
                            "redis.door",
                            "redis.store",
                            "spi",
                            "internal.memory",
                            "internal.store.failover",
                            "internal.store.rejection",
                            "internal.store.scope")),
            entry("annotation", List.of()),
            entry("reactor", List.of("internal.concurrent")),
            entry("expression", List.of("spi", "internal.limiter")),
            entry(
                    "aop",
                    List.of("annotation", "expression", "reactor", "spi", "internal.limiter", "internal.concurrent")),
            entry("web", List.of("expression", "spi", "internal.limiter", "internal.concurrent")),
            entry("web.servlet", List.of("web", "expression", "spi", "internal.limiter", "internal.concurrent")),
            entry(
                    "web.reactive",
                    List.of("web", "expression", "reactor", "spi", "internal.limiter", "internal.concurrent")),
            entry("web.function", List.of("web.servlet")),
            entry("web.client", List.of("reactor", "spi")),
            entry("web.openapi", List.of("web", "internal.limiter")),
            entry(
                    "metrics",
                    List.of("spi", "internal.memory", "internal.store", "internal.limiter", "internal.concurrent")),
            entry("event.publisher", List.of("event", "spi", "internal.concurrent")),
            entry("ai", List.of("reactor")),
            entry("graphql", List.of("web")),
            entry("grpc", List.of("web")),
            entry("jaxrs", List.of("expression", "spi", "web")),
            entry("stomp", List.of("expression", "spi", "web")),
            entry("actuate", List.of("event", "expression", "spi", "internal.limiter", "internal.statistics")),
            entry(
                    "autoconfigure.diagnostics",
                    List.of("spi", "internal.memory", "internal.limiter", "internal.change")),
            entry(
                    "autoconfigure.properties",
                    List.of(
                            "autoconfigure.diagnostics",
                            "autoconfigure.redis",
                            "web",
                            "internal.change",
                            "internal.limiter")),
            entry(
                    "autoconfigure.web",
                    List.of(
                            "autoconfigure",
                            "autoconfigure.properties",
                            "aop",
                            "expression",
                            "graphql",
                            "grpc",
                            "jaxrs",
                            "stomp",
                            "web",
                            "web.function",
                            "web.openapi",
                            "web.reactive",
                            "web.servlet",
                            "spi",
                            "internal.limiter")),
            entry(
                    "autoconfigure.actuate",
                    List.of(
                            "autoconfigure",
                            "autoconfigure.properties",
                            "autoconfigure.redis",
                            "actuate",
                            "redis.script",
                            "spi",
                            "internal.limiter",
                            "internal.statistics")),
            entry(
                    "autoconfigure.redis",
                    List.of(
                            "autoconfigure.diagnostics",
                            "event",
                            "event.publisher",
                            "redis",
                            "redis.connection",
                            "redis.door",
                            "redis.script",
                            "redis.store",
                            "spi",
                            "internal.change",
                            "internal.concurrent",
                            "internal.limiter",
                            "internal.memory",
                            "internal.store",
                            "internal.store.failover",
                            "internal.store.lease",
                            "internal.store.rejection",
                            "internal.store.scope")));

    /** Wires everything. Only packages below have it in their rows. */
    private static final String WIRING = "autoconfigure";

    private final String base;

    /** @param base the package whose packages these are */
    PackageTable(String base) {
        super("use what the table of packages allows");
        this.base = base;
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        String own = name(type);
        if (own.equals(WIRING)) {
            return;
        }
        List<String> used = USES.get(own);
        if (used == null) {
            events.add(SimpleConditionEvent.violated(type, type.getName() + " is in a package that the table lacks"));
            return;
        }
        type.getDirectDependenciesFromSelf().stream()
                .filter(dependency -> isBelow(dependency.getTargetClass()))
                .filter(dependency -> {
                    String target = name(dependency.getTargetClass());
                    return !target.isEmpty()
                            && !target.equals(own)
                            && !used.contains(target)
                            && !USES.get("").contains(target);
                })
                .forEach(dependency -> events.add(SimpleConditionEvent.violated(type, dependency.getDescription())));
    }

    private boolean isBelow(JavaClass type) {
        return type.getPackageName().equals(base) || type.getPackageName().startsWith(base + ".");
    }

    private String name(JavaClass type) {
        String name = type.getPackageName();
        return name.equals(base) ? "" : name.substring(base.length() + 1);
    }
}
