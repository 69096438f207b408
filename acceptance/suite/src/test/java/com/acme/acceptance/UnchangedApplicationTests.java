package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An application with JPA and a cache gets the starter's beans, and keeps its own as they were. */
class UnchangedApplicationTests {

    private static final Pattern PROXY_CREATOR =
            Pattern.compile("AopAutoConfiguration|internalAutoProxyCreator|forceAutoProxyCreatorToUseClassProxying");

    /** Beans of the starter's libraries: Netty and Reactor. None of them connects to anything. */
    private static final Predicate<String> LIBRARIES = Pattern.compile(
                    "(?i)\\bnetty|reactor|reactive|clientHttpConnector|RedisCacheMeterBinderProvider")
            .asPredicate();

    private static final Predicate<String> OURS = Pattern.compile("^rate-?[lL]imit|io\\.ratelimit\\.").asPredicate();

    private static final Pattern WARNING = Pattern.compile(" (?:WARN|ERROR) \\d+ --- (?:\\[[^]]*] ?)*(.*)");

    private static Application before;

    private static Application after;

    @BeforeAll
    static void start() {
        before = Application.start("clinic-before");
        after = Application.start("clinic-after");
    }

    @Test
    void theBeansAreTheSame() {
        Set<String> old = beans(before);
        Set<String> now = beans(after);

        assertThat(old).noneMatch(OURS);
        assertThat(now).anyMatch(bean -> bean.startsWith("rateLimitRegistry"));
        assertThat(without(now, old)).allMatch(OURS.or(LIBRARIES).or(PROXY_CREATOR.asPredicate()));
        assertThat(without(old, now)).allMatch(PROXY_CREATOR.asPredicate());
    }

    @Test
    void healthHasOneMoreComponent() {
        Map<String, Object> old = before.json("/actuator/health", "$.components");
        Map<String, Object> now = after.json("/actuator/health", "$.components");

        assertThat(old).containsKey("db").doesNotContainKey("ratelimit");
        assertThat(without(now.keySet(), old.keySet())).containsExactly("ratelimit");
        assertThat(after.<String>json("/actuator/health", "$.status")).isEqualTo("UP");
    }

    @Test
    void theCacheStaysInMemory() {
        for (Application application : List.of(before, after)) {
            assertThat(application.allowed("/vets").body()).isEqualTo("0 vets");
            assertThat(application.allowed("/vets").body()).isEqualTo("0 vets");
        }
    }

    @Test
    void theStartHasNoNewWarning() {
        assertThat(without(warnings(after), warnings(before)))
                .allMatch(warning -> warning.contains("No connection to Redis at 127.0.0.1:1 yet"));
    }

    private static Set<String> beans(Application application) {
        Map<String, Map<String, Object>> beans =
                JsonPath.read(application.get("/actuator/beans").body(), "$.contexts['application'].beans");
        Set<String> all = new TreeSet<>();
        beans.forEach((name, bean) -> all.add((name + " " + bean.get("type")).replaceAll("\\$\\$.*|\\$Proxy\\d+", "")));
        return all;
    }

    private static Set<String> warnings(Application application) {
        Set<String> warnings = new TreeSet<>();
        for (String line : application.startLog()) {
            var warning = WARNING.matcher(line);
            if (warning.find()) {
                warnings.add(warning.group(1));
            }
        }
        return warnings;
    }

    private static Set<String> without(Set<String> all, Set<String> others) {
        Set<String> rest = new TreeSet<>(all);
        rest.removeAll(others);
        return rest;
    }
}
