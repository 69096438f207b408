package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.testing.LogRecorder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.util.StringUtils;

/** An application without the auto-configuration, as a test slice is one, is not unlimited without a word. */
class UnlimitedContextTests {

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @Test
    void firstAnnotatedBeanIsNamedOnce() {
        assertThat(start(Unlimited.class))
                .containsExactly(
                        "Rate limits are off in this application context (RateLimitAutoConfiguration is not part"
                                + " of it); @RateLimited has no effect on " + Quotes.class.getName()
                                + " and other beans. In a"
                                + " test slice, add @AutoConfigureRateLimits or @DisableRateLimits of ratelimit-spring-boot-test;"
                                + " elsewhere, import RateLimitAutoConfiguration");
    }

    /** As the context of another {@code DispatcherServlet}. */
    @ParameterizedTest
    @ValueSource(classes = {Limited.class, Plain.class})
    void contextOfAServletIsLookedAtOnce(Class<?> application) {
        assertThat(startWithChild(application, Unlimited.class)).hasSize(1);
        assertThat(startWithChild(application, Limited.class)).isEmpty();
        assertThat(startWithChild(application, Plain.class)).isEmpty();
        assertThat(startWithChild(application, Unlimited.class, "--ratelimit.enabled=off"))
                .isEmpty();
    }

    /** As one of XML files, where Spring loads the class of a lazy bean only when that is asked for. */
    @Test
    void contextStartsWithALazyBeanWhoseClassIsMissing() {
        try (ConfigurableApplicationContext parent = builder(Plain.class).run();
                GenericApplicationContext servlet = new GenericApplicationContext(parent)) {
            RootBeanDefinition missing = new RootBeanDefinition();
            missing.setBeanClassName("com.acme.Missing");
            missing.setLazyInit(true);
            servlet.registerBeanDefinition("missing", missing);
            servlet.registerBean(Quotes.class);
            servlet.refresh();
        }
        assertThat(warnings()).hasSize(1);
    }

    private List<String> startWithChild(Class<?> application, Class<?> child, String... arguments) {
        int before = warnings().size();
        String[] all = StringUtils.addStringToArray(arguments, "--ratelimit.store=in-memory");
        try (ConfigurableApplicationContext parent = builder(application).run(all);
                AnnotationConfigApplicationContext servlet = new AnnotationConfigApplicationContext()) {
            servlet.setParent(parent);
            servlet.register(child);
            servlet.refresh();
        }
        return warnings().subList(before, warnings().size());
    }

    @Test
    void annotationOfAnInterfaceOrSuperclassCounts() {
        assertThat(start(Plain.class, OfInterface.class)).hasSize(1);
        assertThat(start(Plain.class, OfSuperclass.class)).hasSize(1);
        assertThat(start(Plain.class, OfType.class)).hasSize(1);
    }

    /** Petclinic is such an application. */
    @Test
    void annotationCountsAlsoInAPackageOfSpring() {
        assertThat(start(Plain.class, org.springframework.samples.Quotes.class)).hasSize(1);
    }

    @Test
    void contextWithLimitsOrWithoutAnnotationsIsFine() {
        assertThat(start(Limited.class, "--ratelimit.store=in-memory")).isEmpty();
        assertThat(start(Limited.class, "--ratelimit.enabled=off")).isEmpty();
        assertThat(start(Unlimited.class, "--ratelimit.enabled=off")).isEmpty();
        assertThat(start(Plain.class)).isEmpty();
    }

    /** Whether a bean is annotated or not: URL rules are off, too. */
    @Test
    void exclusionOfTheAutoConfigurationIsNamedWithWhatToSet() {
        assertThat(start(Excluding.class))
                .containsExactly(
                        "Rate limits are off: RateLimitAutoConfiguration is excluded. Remove the exclusion, or set"
                                + " ratelimit.enabled=false instead of it");
        assertThat(start(Excluding.class, "--ratelimit.enabled=false")).isEmpty();
        // Its children have no other.
        assertThat(startWithChild(Excluding.class, Unlimited.class)).hasSize(1);
    }

    /** As {@code spring.autoconfigure.exclude} does. What keeps Spring Boot's Redis apart stays. */
    @Test
    void exclusionOfTheAutoConfigurationTurnsLimitsOff() {
        Class<?>[] others = AutoConfigurationFilesTests.autoConfigurations().stream()
                .filter(type -> type != RateLimitAutoConfiguration.class)
                .toArray(Class<?>[]::new);
        String[] properties = {"management.endpoints.web.exposure.include=*", "ratelimit.statistics.enabled=true"};
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(others))
                .withPropertyValues(properties)
                .run(UnlimitedContextTests::containsNoLimits);
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(others))
                .withPropertyValues(properties)
                .run(UnlimitedContextTests::containsNoLimits);
    }

    private static void containsNoLimits(ListableBeanFactory context) {
        assertThat(context.getBeanDefinitionNames())
                .filteredOn(name -> name.startsWith("rateLimit"))
                .isEmpty();
    }

    private List<String> start(Class<?> application, String... arguments) {
        return start(new Class<?>[] {application}, arguments);
    }

    private List<String> start(Class<?> application, Class<?> bean) {
        return start(new Class<?>[] {application, bean});
    }

    private List<String> start(Class<?>[] sources, String... arguments) {
        int before = warnings().size();
        builder(sources).run(arguments).close();
        return warnings().subList(before, warnings().size());
    }

    private static SpringApplicationBuilder builder(Class<?>... sources) {
        return new SpringApplicationBuilder(sources)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false);
    }

    private List<String> warnings() {
        return log.lines().stream()
                .filter(message ->
                        message.startsWith("Rate limits are off in") || message.startsWith("Rate limits are off:"))
                .toList();
    }

    @Configuration(proxyBeanMethods = false)
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @Import({Quotes.class, OfType.class})
    static class Unlimited {}

    @ImportAutoConfiguration(RateLimitAutoConfiguration.class)
    @Configuration(proxyBeanMethods = false)
    @Import(Quotes.class)
    static class Limited {}

    @ImportAutoConfiguration(
            classes = {RateLimitAutoConfiguration.class, RateLimitsEndpointAutoConfiguration.class},
            exclude = RateLimitAutoConfiguration.class)
    @Configuration(proxyBeanMethods = false)
    @Import(Quotes.class)
    static class Excluding {}

    static class Quotes {

        @RateLimited(rate = "1/s")
        public void quote() {}
    }

    @RateLimited(rate = "1/s")
    static class OfType {

        public void quote() {}
    }

    interface LimitedInterface {

        @RateLimited(rate = "1/s")
        void quote();
    }

    static class OfInterface implements LimitedInterface {

        @Override
        public void quote() {}
    }

    static class OfSuperclass extends Quotes {}
}
