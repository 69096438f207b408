package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The starter adds its beans to an application, and changes none. */
@Timeout(300)
@LongRunning
class UnchangedApplicationTests {

    private static final String OWN_REDIS = "--ratelimit.redis.url=redis://localhost:1";

    /** What the starter brings. */
    private static final String STARTER =
            "lettuce|redis|spring-data|boot-data|boot-persistence|boot-transaction|boot-netty|spring-tx|spring-oxm"
                    + "|spring-messaging|resilience4j|aspectjweaver|spring-boot-starter-data";

    /** What it brings besides, unless the application is reactive. */
    private static final String REACTOR = "|netty|reactor|reactive-streams";

    private static final String TEST_LIBRARIES = "security|kotlin|blockhound|lincheck";

    private static final String NO_WEBFLUX = TEST_LIBRARIES + "|webflux|reactor-netty|boot-reactor|netty-codec-http";

    private static final String NO_WEBMVC = TEST_LIBRARIES + "|webmvc|tomcat|servlet";

    private static final String NO_WEB =
            NO_WEBFLUX + "|webmvc|tomcat|servlet|spring-web|boot-web|boot-http|jackson-databind";

    private static final Predicate<String> OURS =
            bean -> bean.contains("io.ratelimit.") || bean.startsWith("rateLimit");

    private static final Pattern PROXY_CREATOR =
            Pattern.compile("AopAutoConfiguration|internalAutoProxyCreator|forceAutoProxyCreatorToUseClassProxying");

    /** Beans that libraries of the starter bring, whatever the configuration. None of them connects to anything. */
    private static final Predicate<String> LIBRARIES = PROXY_CREATOR
            .asPredicate()
            .or(Pattern.compile(
                            "boot\\.(netty|transaction|persistence)\\.|boot\\.data\\.(?!redis)|springframework\\.data\\.(?!redis)"
                                    + "|springframework\\.dao\\.|nettyAutoConfigurationLazy|eactiveHealthContributorRegistry"
                                    + "|edisCacheMeterBinderProvider")
                    .asPredicate());

    @Test
    void servletApplicationStaysAsItIs() throws ReflectiveOperationException, IOException {
        Set<String> before = beans(true, NO_WEBFLUX + "|" + STARTER + REACTOR, "servlet");
        try (OtherClassPath with = OtherClassPath.without(NO_WEBFLUX)) {
            for (String property : List.of(OWN_REDIS, "--ratelimit.store=in-memory", "--ratelimit.enabled=false")) {
                assertOnlyOurs(before, beans(with, "servlet", property));
            }
        }
    }

    @Test
    void reactiveApplicationStaysAsItIs() throws ReflectiveOperationException, IOException {
        assertOnlyOurs(
                beans(true, NO_WEBMVC + "|" + STARTER, "reactive"), beans(false, NO_WEBMVC, "reactive", OWN_REDIS));
    }

    @Test
    void applicationWithoutWebStaysAsItIs() throws ReflectiveOperationException, IOException {
        assertOnlyOurs(beans(true, NO_WEB + "|" + STARTER + REACTOR, "none"), beans(false, NO_WEB, "none", OWN_REDIS));
    }

    private static void assertOnlyOurs(Set<String> before, Set<String> after) {
        assertThat(before).noneMatch(bean -> bean.startsWith("rateLimitRegistry"));
        assertThat(after).anyMatch(bean -> bean.startsWith("rateLimitRegistry"));
        assertThat(difference(after, before)).allMatch(OURS.or(LIBRARIES));
        assertThat(difference(before, after)).allMatch(PROXY_CREATOR.asPredicate());
    }

    private static Set<String> difference(Set<String> all, Set<String> without) {
        Set<String> rest = new TreeSet<>(all);
        rest.removeAll(without);
        return rest;
    }

    private static Set<String> beans(boolean without, String missing, String type, String... arguments)
            throws ReflectiveOperationException, IOException {
        try (OtherClassPath classes = without ? OtherClassPath.withoutUs(missing) : OtherClassPath.without(missing)) {
            return beans(classes, type, arguments);
        }
    }

    private static Set<String> beans(OtherClassPath classes, String type, String... arguments)
            throws ReflectiveOperationException, IOException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=" + type, "--server.port=0"));
        String beans = (String) classes.run(ApplicationBeans.class, all.toArray(String[]::new));
        return new TreeSet<>(Arrays.asList(beans.split("\n")));
    }
}
