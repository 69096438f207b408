package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.Scope;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.autoconfigure.redis.RedisServers;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.servlet.RequestLimitFilter;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

/** Parent and child contexts that read the same application.yml. */
@LongRunning
class ContextHierarchyTests {

    private ConfigurableApplicationContext last;

    @AfterEach
    void close() {
        for (var context = last; context != null; context = (ConfigurableApplicationContext) context.getParent()) {
            context.close();
        }
    }

    @Test
    void limitOfTheChildIsNoMistakeOfTheParent() {
        run(family(Plain.class, WithQuotes.class), "ratelimit.limits.quotes.capacity=2");

        quote();
        quote();
        assertRejected("quotes", this::quote);
    }

    @Test
    void limitOfTheParentIsNoMistakeOfTheChild() {
        run(family(WithQuotes.class, Plain.class), "ratelimit.limits.quotes.capacity=2");

        assertThat(limiter("quotes").tryAcquire("all").capacity()).isEqualTo(2);
    }

    @Test
    void limitThatNoContextDeclaresStopsTheLastOne() {
        assertThatThrownBy(() -> run(family(WithQuotes.class, WithExports.class), "ratelimit.limits.qoutes.capacity=2"))
                .hasMessageContaining("ratelimit.limits.qoutes must name a declared limit")
                .hasMessageContaining("ratelimit.limits.quotes");
        assertThatThrownBy(() -> run(parent(Plain.class), "ratelimit.limits.quotes.capacity=2"))
                .hasMessageContaining("ratelimit.limits.quotes must name a declared limit");
    }

    @Test
    void siblingsKnowTheLimitsOfEachOther() {
        run(
                family(Plain.class, WithQuotes.class)
                        .sibling(
                                new Class<?>[] {WithExports.class},
                                all("--ratelimit.limits.quotes.capacity=2", "--ratelimit.limits.exports.capacity=3"))
                        .web(WebApplicationType.NONE),
                "ratelimit.limits.quotes.capacity=2",
                "ratelimit.limits.exports.capacity=3");

        assertThat(limiter("exports").tryAcquire("all").capacity()).isEqualTo(3);
    }

    @Test
    void limitThatNoSiblingDeclaresStopsTheLastOne() {
        String typo = "--ratelimit.limits.qoutes.capacity=2";

        assertThatThrownBy(() -> family(Plain.class, WithQuotes.class)
                        .sibling(new Class<?>[] {WithExports.class}, all(typo))
                        .web(WebApplicationType.NONE)
                        .run(all(typo)))
                .hasMessageContaining("ratelimit.limits.qoutes must name a declared limit");
    }

    @Test
    void parentThatIsStartedAloneSaysThatItIsPartial() {
        ConfigurableApplicationContext parent = parent(Plain.class)
                .properties("ratelimit.partial-context=true")
                .run(all("--ratelimit.limits.quotes.capacity=2"));
        run(
                new SpringApplicationBuilder(WithQuotes.class)
                        .web(WebApplicationType.NONE)
                        .parent(parent),
                "ratelimit.limits.quotes.capacity=2");
        assertThat(limiter("quotes").tryAcquire("all").capacity()).isEqualTo(2);

        assertThatThrownBy(() -> new SpringApplicationBuilder(WithQuotes.class)
                        .web(WebApplicationType.NONE)
                        .parent(parent)
                        .run(all("--ratelimit.limits.qoutes.capacity=2")))
                .hasMessageContaining("ratelimit.limits.qoutes must name a declared limit");
    }

    @Test
    void contextsShareLimitsAndBuckets() {
        run(family(WithQuotes.class, WithRateLimitBean.class));
        RateLimiterRegistry ofParent = last.getParent().getBean(RateLimiterRegistry.class);

        assertThat(ofParent.get("quotes").tryAcquire("all").allowed()).isTrue();

        assertThat(limiter("quotes").tryAcquire("all").allowed()).isFalse();
        assertThat(limiter("of-child").tryAcquire("all").allowed()).isTrue();
        assertThat(last.getBean(RateLimiterRegistry.class).names()).containsExactlyInAnyOrder("quotes", "of-child");
        assertThat(ofParent.names()).containsExactly("quotes");
        assertThatThrownBy(() -> ofParent.get("of-child")).hasMessageContaining("There is no limit 'of-child'");
    }

    /** One queue of waiting calls, and one count of the permits in use. */
    @Test
    void releaseInOneContextWakesACallOfTheOther() {
        run(family(WithConcurrency.class, Plain.class));
        RateLimiter ofParent =
                last.getParent().getBean(RateLimiterRegistry.class).get("running");
        RateLimiter.Entry held = ofParent.enter("all");
        CompletableFuture<RateLimiter.Entry> waiting =
                limiter("running").enterAsync("all").toCompletableFuture();

        assertThat(waiting).isNotDone();
        held.close();
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));

        CompletableFuture<RateLimiter.Entry> next = ofParent.enterAsync("all").toCompletableFuture();
        assertThat(next).isNotDone();
        waiting.join().close();
        assertThat(next).succeedsWithin(Duration.ofSeconds(30));
        assertThat(last.getBean(RateLimitGate.class)
                        .heldPermits(
                                last.getBean(LimitCatalog.class).find("running").orElseThrow()))
                .isEqualTo(1);
    }

    @Test
    void callOfTheChildThatWaitsFollowsALimitOfTheParent() {
        run(family(WithConcurrency.class, Plain.class));
        RateLimiter ofChild = limiter("running");
        ofChild.enter("all");
        CompletableFuture<RateLimiter.Entry> waiting = ofChild.enterAsync("all").toCompletableFuture();

        assertThat(waiting).isNotDone();
        last.getParent()
                .getBean(RateLimitAdmin.class)
                .override("running", RateLimitOverride.builder().capacity(2L).build());
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));
    }

    @Test
    void sameNameNeedsTheSameNumbers() {
        run(family(WithQuotes.class, WithOtherQuotes.class), "ratelimit.limits.quotes.rate=5/h");
        assertThatThrownBy(() -> run(family(WithQuotes.class, WithOtherQuotes.class)))
                .hasMessageContaining("name 'quotes' is declared as")
                .hasMessageContaining(Quotes.class.getName());
    }

    @Test
    void annotationOfTheChildWinsOverTheConfigurationAlone() {
        run(family(Plain.class, WithWindow.class), "ratelimit.limits.window.rate=1/h");

        assertThat(last.getBean(Window.class).call()).isEqualTo(1);
        assertRejected("window", () -> last.getBean(Window.class).call());
    }

    @Test
    void pointcutMayMatchInEitherContext() {
        String pointcut = "ratelimit.limits.plain.pointcut=execution(* " + Unannotated.class.getName() + ".*(..))";
        run(family(Plain.class, WithUnannotated.class), pointcut, "ratelimit.limits.plain.rate=1/h");
        last.getBean(Unannotated.class).call();
        assertRejected("plain", () -> last.getBean(Unannotated.class).call());
        close();

        run(family(WithUnannotated.class, Plain.class), pointcut, "ratelimit.limits.plain.rate=1/h");
        last.getBean(Unannotated.class).call();
        assertRejected("plain", () -> last.getBean(Unannotated.class).call());

        assertThatThrownBy(() -> run(family(Plain.class, Plain.class), pointcut, "ratelimit.limits.plain.rate=1/h"))
                .hasMessageContaining("matches no public method of any bean");
    }

    @Test
    void urlRulesAreNoMistakeOfAParentWithoutWeb() {
        run(
                parent(Plain.class).child(Web.class).web(WebApplicationType.SERVLET),
                "ratelimit.limits.urls.rate=1/h",
                "ratelimit.http[0].path=/**",
                "ratelimit.http[0].limit=urls");

        assertThat(last.getBeansOfType(RequestLimitFilter.class)).hasSize(RuleOrder.values().length);
        assertThatThrownBy(() -> run(
                        family(Plain.class, Plain.class),
                        "ratelimit.limits.urls.rate=1/h",
                        "ratelimit.http[0].path=/**",
                        "ratelimit.http[0].limit=urls"))
                .hasMessageContaining("ratelimit.http must be empty in an application without Spring MVC and WebFlux");
    }

    @Test
    void decisionIsCountedOnce() {
        run(family(WithMeters.class, WithQuotes.class));

        quote();

        assertThat(last.getBean(MeterRegistry.class)
                        .get("ratelimit.calls")
                        .tags("limit", "quotes", "outcome", "allowed")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(last.getBean(RecordingListener.class).outcomes()).hasSize(1);
    }

    /** Spring passes what a child publishes on to its parent. */
    @Test
    void changeIsPublishedOnce() {
        run(family(WithChanges.class, WithQuotes.class));
        RateLimitAdmin admin = last.getBean(RateLimitAdmin.class);
        for (long capacity = 2; capacity <= 4; capacity++) {
            admin.override(
                    "quotes", RateLimitOverride.builder().capacity(capacity).build());
        }
        Changes changes = last.getBean(Changes.class);
        await().untilAsserted(() -> assertThat(changes.heard).contains("capacity 4"));
        last.close();
        assertThat(changes.heard.subList(0, 3)).containsExactly("capacity 2", "capacity 3", "capacity 4");
    }

    @Test
    void endpointOfTheChildShowsTheLimitsOfBoth() {
        run(
                family(WithEndpoint.class, WithEndpointAndExports.class),
                "management.endpoints.web.exposure.include=ratelimits");
        assertThat(last.getBean(RateLimitsEndpoint.class).limits(null).limits()).containsOnlyKeys("quotes", "exports");
    }

    @Test
    void childUsesTheConnectionOfItsParent() {
        run(family(WithRedis.class, WithQuotes.class), "ratelimit.store=redis");

        assertThat(last.getBeanFactory().containsLocalBean("rateLimitDefaultStore"))
                .isFalse();
        assertThat(last.getBean(RateLimitStore.class)).isSameAs(last.getParent().getBean(RateLimitStore.class));
        assertThat(last.getBeanNamesForType(RedisServers.class)).isEmpty();
        assertThat(last.getParent().getBeanNamesForType(RedisServers.class)).hasSize(1);
    }

    @Test
    void parentKeepsNothingOfAClosedChild() {
        last = parent(WithQuotes.class).run(all("--ratelimit.partial-context=true"));
        ConfigurableApplicationContext parent = last;
        List<WeakReference<Object>> closed = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            closed.add(runAndClose(parent, i % 2 == 0 ? WithJointQuotes.class : WithEndpoint.class));
        }
        await().until(() -> {
            System.gc();
            return closed.stream().allMatch(child -> child.refersTo(null));
        });
    }

    private static WeakReference<Object> runAndClose(ConfigurableApplicationContext parent, Class<?> source) {
        try (ConfigurableApplicationContext child =
                parent(source).parent(parent).run(all())) {
            child.getBean(RateLimitAdmin.class)
                    .override("quotes", RateLimitOverride.builder().dryRun(true).build());
            return new WeakReference<>(child);
        }
    }

    @Test
    void limitThatAChildCombinesWithAnotherMayBlockWhenTheChildIsClosed() {
        run(family(WithQuotes.class, WithJointQuotes.class));
        RateLimitAdmin admin = last.getParent().getBean(RateLimitAdmin.class);
        RateLimitOverride blocking = RateLimitOverride.builder()
                .blockFor(List.of(Duration.ofMinutes(1)))
                .build();
        assertThatThrownBy(() -> admin.override("quotes", blocking))
                .hasMessageContaining("blockFor must not be set for limits of one call that different stores decide");
        last.close();
        assertThat(admin.override("quotes", blocking).effective().blockFor()).hasSize(1);
    }

    private void quote() {
        last.getBean(Quotes.class).quote();
    }

    private RateLimiter limiter(String name) {
        return last.getBean(RateLimiterRegistry.class).get(name);
    }

    private static SpringApplicationBuilder parent(Class<?> source) {
        return new SpringApplicationBuilder(source)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false);
    }

    private static SpringApplicationBuilder family(Class<?> parent, Class<?> child) {
        return parent(parent).child(child).web(WebApplicationType.NONE);
    }

    private void run(SpringApplicationBuilder builder, String... properties) {
        String[] arguments =
                Arrays.stream(properties).map(property -> "--" + property).toArray(String[]::new);
        last = builder.run(all(arguments));
    }

    private static String[] all(String... arguments) {
        String store = String.join(" ", arguments).contains("--ratelimit.store=") ? "" : "--ratelimit.store=in-memory";
        return Stream.concat(
                        Stream.of(store, "--spring.main.banner-mode=off", "--server.port=0")
                                .filter(argument -> !argument.isEmpty()),
                        Arrays.stream(arguments))
                .toArray(String[]::new);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Quotes.class})
    static class WithQuotes {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, OtherQuotes.class})
    static class WithOtherQuotes {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, JointQuotes.class})
    static class WithJointQuotes {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Exports.class})
    static class WithExports {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Window.class})
    static class WithWindow {}

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Unannotated.class})
    static class WithUnannotated {}

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WithRateLimitBean {

        @Bean
        RateLimit limitOfChild() {
            return RateLimit.named("of-child").rate("1/h").build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WithConcurrency {

        @Bean
        RateLimit running() {
            return RateLimit.named("running")
                    .algorithm(Algorithm.CONCURRENCY)
                    .capacity(1)
                    .maxWait(Duration.ofHours(1))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, RecordingListener.class})
    static class WithMeters {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class WithRedis {

        @Bean
        RateLimitScriptExecutor executor() {
            return new FailingScriptExecutor();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    @EnableAutoConfiguration
    static class Web {}

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/h")
        public void quote() {}
    }

    static class OtherQuotes {

        @RateLimited(name = "quotes", rate = "2/h")
        public void quote() {}
    }

    static class JointQuotes {

        @RateLimited(name = "quotes", rate = "1/h")
        @RateLimited(name = "of-each", rate = "1/h", scope = Scope.INSTANCE, blockFor = "1m")
        public void quote() {}
    }

    static class Exports {

        @RateLimited(name = "exports", rate = "1/h")
        public void export() {}
    }

    static class Window {

        private int calls;

        @RateLimited(name = "window", algorithm = Algorithm.FIXED_WINDOW, rate = "5/h")
        public int call() {
            return ++calls;
        }
    }

    static class Unannotated {

        public void call() {}
    }

    static class Changes {

        private final List<String> heard = new CopyOnWriteArrayList<>();

        @EventListener
        void changed(RateLimitChangedEvent event) {
            heard.add(event.change());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Plain.class, Changes.class})
    static class WithChanges {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitsEndpointAutoConfiguration.class)
    @Import(WithQuotes.class)
    static class WithEndpoint {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RateLimitsEndpointAutoConfiguration.class)
    @Import(WithExports.class)
    static class WithEndpointAndExports {}
}
