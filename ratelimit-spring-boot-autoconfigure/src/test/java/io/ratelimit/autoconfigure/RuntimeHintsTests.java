package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.actuate.BucketDescriptor;
import io.ratelimit.actuate.LimitDescriptor;
import io.ratelimit.actuate.RateLimitsDescriptor;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.LimitedMethodHints;
import io.ratelimit.aop.ProcessedMethods;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.autoconfigure.properties.Pointcuts;
import io.ratelimit.autoconfigure.redis.RedisStoreProperties;
import io.ratelimit.expression.ExpressionRoot;
import io.ratelimit.expression.RequestRoot;
import io.ratelimit.testing.OwnAlgorithms;
import io.ratelimit.testing.Sources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedClass;
import org.springframework.aot.generate.GeneratedMethods;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.generate.MethodReference;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.aot.BeanFactoryInitializationCode;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.ResolvableType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ClassUtils;

/** A native image finds what limits need. */
class RuntimeHintsTests {

    private static final Pattern CLASS_NAME =
            Pattern.compile("\"((?:io|kotlinx|org|reactor)\\.[a-z][\\w.]*\\.[A-Z]\\w*)\"");

    /** The order of auto-configurations, and classes that are compared by name only. */
    private static final Pattern NOT_LOADED = Pattern.compile(
            ".*AutoConfiguration|io\\.ratelimit\\..*|io\\.grpc\\.stub\\.StreamObserver|.*\\.MeterBinder|org\\.springframework\\.(beans\\.factory\\.\\w+|security\\.(access|core\\.userdetails|authentication|crypto)\\..*|format\\.\\w+"
                    + "|context\\.(\\w+|annotation\\.Bean|event\\.\\w+)|core\\.(Ordered|convert\\..*)|scheduling\\.annotation\\.\\w+"
                    + "|messaging\\.(handler\\.annotation|rsocket\\.service)\\..*|graphql\\.data\\..*|cloud\\.openfeign\\.\\w+"
                    + "|web\\.(bind\\.annotation|service\\.annotation|context\\.request\\.async|servlet\\.(function|mvc\\.method\\.annotation))\\..*)");

    private static final RuntimeHints GENERAL = new RuntimeHints();

    private static RuntimeHints ofApplication;

    @BeforeAll
    static void register() {
        new RateLimitRuntimeHints().registerHints(GENERAL, RuntimeHintsTests.class.getClassLoader());
        LimitedContexts.inMemory()
                .withBean("quotes", Quotes.class)
                .withBean("contract", Contract.class, Implementation::new)
                .withBean("tenants", Tenants.class)
                .withBean("algorithm", OwnAlgorithms.Batches.class)
                .withPropertyValues("ratelimit.limits.configured.key-expression=#order.customer.id.version()")
                .run(context -> ofApplication = hints(context));
    }

    private static RuntimeHints hints(ConfigurableApplicationContext context) {
        GenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("com.acme", "Application")), new InMemoryGeneratedFiles());
        GeneratedClass generated = generation.getGeneratedClasses().addForFeature("Limits", type -> {});
        BeanFactoryInitializationCode code = new BeanFactoryInitializationCode() {

            @Override
            public ClassName getClassName() {
                return generated.getName();
            }

            @Override
            public GeneratedMethods getMethods() {
                return generated.getMethods();
            }

            @Override
            public void addInitializer(MethodReference initializer) {}
        };
        AotServices.factories().load(BeanFactoryInitializationAotProcessor.class).stream()
                .filter(processor -> processor instanceof LimitedMethodHints || processor instanceof AlgorithmPartHints)
                .map(processor -> processor.processAheadOfTime(context.getBeanFactory()))
                .forEach(contribution -> contribution.applyTo(generation, code));
        return generation.getRuntimeHints();
    }

    @Test
    void everyPartOfTheScriptIsIncluded() throws IOException {
        try (Stream<Path> parts = Files.list(Path.of("../ratelimit-redis/src/main/resources/io/ratelimit/redis"))) {
            assertThat(parts)
                    .isNotEmpty()
                    .allSatisfy(part -> assertThat(resource().forResource("io/ratelimit/redis/" + part.getFileName()))
                            .accepts(GENERAL));
        }
    }

    @Test
    void partOfAnApplicationsAlgorithmIsIncluded() {
        assertThat(resource().forResource("io/ratelimit/testing/Batches.lua")).accepts(ofApplication);
    }

    /** What the endpoint writes as JSON, down to the last record. */
    @Test
    void answersOfTheEndpointAreReadable() {
        RuntimeHints hints = new RuntimeHints();
        new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, RateLimitsEndpointAutoConfiguration.class);
        Set<Class<?>> records = new HashSet<>();
        Stream.of(RateLimitsDescriptor.class, LimitDescriptor.class, BucketDescriptor.class)
                .forEach(type -> addRecords(ResolvableType.forClass(type), records));
        assertThat(records).hasSizeGreaterThan(8).contains(LimitDescriptor.PlanDescriptor.class);
        assertThat(records)
                .allSatisfy(type -> assertThat(type.getRecordComponents())
                        .allSatisfy(component -> assertThat(reflection().onMethodInvocation(component.getAccessor()))
                                .accepts(hints)));
    }

    private static void addRecords(ResolvableType type, Set<Class<?>> records) {
        Stream.of(type.getGenerics()).forEach(generic -> addRecords(generic, records));
        Class<?> found = type.resolve(Object.class);
        if (found.isRecord() && found.getName().startsWith("io.ratelimit.") && records.add(found)) {
            for (RecordComponent component : found.getRecordComponents()) {
                addRecords(ResolvableType.forMethodReturnType(component.getAccessor()), records);
            }
        }
    }

    @Test
    void rootsOfExpressionsAreReadable() {
        assertThat(reflection().onMethodInvocation(ExpressionRoot.class, "getTarget"))
                .accepts(GENERAL);
        assertThat(reflection().onMethodInvocation(RequestRoot.class, "getClientIp"))
                .accepts(GENERAL);
        assertThat(reflection().onMethodInvocation(RequestRoot.class, "header")).accepts(GENERAL);
    }

    @Test
    void fieldsWithoutGettersAreReadable() {
        assertThat(reflection().onFieldAccess(LettuceConnectionFactory.class, "configuration"))
                .accepts(GENERAL);
    }

    @Test
    void recordsThatPropertiesAreBoundToAreConstructible() {
        assertThat(Stream.of(
                        Pointcuts.Limit.class,
                        RedisStoreProperties.class,
                        RedisStoreProperties.Ssl.class,
                        RedisStoreProperties.Sentinel.class,
                        RedisStoreProperties.Cluster.class))
                .allSatisfy(type -> assertThat(reflection().onConstructorInvocation(type.getDeclaredConstructors()[0]))
                        .accepts(GENERAL));
    }

    /** Otherwise it seems to be absent: add it to {@code RateLimitRuntimeHints.BY_NAME}. */
    @Test
    void everyTypeThatTheCodeNamesIsFound() {
        ClassLoader loader = getClass().getClassLoader();
        List<String> names = Sources.files("src/main/java").stream()
                .filter(source -> !source.endsWith("RateLimitRuntimeHints.java"))
                .flatMap(RuntimeHintsTests::classNames)
                .distinct()
                .filter(name -> !NOT_LOADED.matcher(name).matches())
                .toList();

        assertThat(names).contains("io.lettuce.core.RedisClient", "reactor.core.publisher.Mono");
        assertThat(names)
                .filteredOn(name -> ClassUtils.isPresent(name, loader))
                .allSatisfy(name ->
                        assertThat(reflection().onType(TypeReference.of(name))).accepts(GENERAL));
    }

    private static Stream<String> classNames(Path source) {
        try {
            return CLASS_NAME.matcher(Files.readString(source)).results().map(match -> match.group(1));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Test
    void limitedMethodsAndTheirAnnotationsAreFound() throws NoSuchMethodException {
        assertThat(reflection().onMethodInvocation(Quotes.class.getMethod("quote", Order.class)))
                .accepts(ofApplication);
        assertThat(reflection().onType(Contract.class).withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(ofApplication);
        assertThat(reflection().onType(Hourly.class)).accepts(ofApplication);
        assertThat(proxies().forInterfaces(RateLimited.class)).accepts(ofApplication);
    }

    @Test
    void fallbackMethodsAreCallable() throws NoSuchMethodException {
        assertThat(reflection()
                        .onMethodInvocation(Quotes.class.getDeclaredMethod(
                                "rejected", Order.class, RateLimitExceededException.class)))
                .accepts(ofApplication);
    }

    @Test
    void whatExpressionsReachIsReadable() {
        assertThat(reflection().onMethodInvocation(Tenants.class, "of")).accepts(ofApplication);
        assertThat(reflection().onMethodInvocation(Order.class, "lines")).accepts(ofApplication);
        assertThat(reflection().onMethodInvocation(Line.class, "getPages")).accepts(ofApplication);
        assertThat(reflection().onFieldAccess(Line.class, "free")).accepts(ofApplication);
        assertThat(reflection().onMethodInvocation(String.class, "isBlank")).accepts(ofApplication);
    }

    @Test
    void whatConfiguredExpressionsReachIsReadable() {
        assertThat(reflection().onMethodInvocation(Customer.class, "id")).accepts(ofApplication);
        assertThat(reflection().onMethodInvocation(UUID.class, "version")).accepts(ofApplication);
    }

    @Test
    void aMethodThatAotProcessingHasFoundAndTheStartUpHasNotStopsIt() {
        LimitedContexts.inMemory()
                .withBean("tenants", Tenants.class)
                .withBean("algorithm", OwnAlgorithms.Batches.class)
                .withBean(ProcessedMethods.class, () -> new ProcessedMethods(Set.of("tenants:of(java.lang.String)")))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(RateLimitConfigurationException.class)
                        .hasMessageContaining("@RateLimited of the bean 'tenants' must be found at start-up"));
    }

    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(name = "meta", rate = "1/h")
    @interface Hourly {}

    static class Quotes {

        @RateLimited(
                name = "configured",
                rate = "1/h",
                permits = "#order.lines[0].pages",
                condition = "!@tenants.of('a').blank and !#order.lines[0].free",
                fallbackMethod = "rejected")
        public void quote(Order order) {}

        void rejected(Order order, RateLimitExceededException ex) {}

        @Hourly
        public void meta() {}
    }

    interface Contract {

        @RateLimited(name = "interface", rate = "1/h")
        void declared();
    }

    static class Implementation implements Contract {

        @Override
        public void declared() {}
    }

    static class Tenants {

        public String of(String user) {
            return user;
        }
    }

    record Order(Customer customer, List<Line> lines) {}

    record Customer(UUID id) {}

    static class Line {

        public final boolean free = false;

        public int getPages() {
            return 1;
        }
    }
}
