package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.elsewhere.PackagePrivateBase;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.testing.LogRecorder;
import jakarta.annotation.PostConstruct;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSessionEvent;
import jakarta.servlet.http.HttpSessionListener;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.event.EventListener;
import org.springframework.core.MethodParameter;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.ConditionalGenericConverter;
import org.springframework.core.convert.converter.Converter;
import org.springframework.core.env.Environment;
import org.springframework.format.Formatter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.dao.AbstractUserDetailsAuthenticationProvider;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class UnadvisableMethodTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @ParameterizedTest
    @ValueSource(classes = {Private.class, Static.class, Final.class, FinalBelowAnnotatedType.class})
    void methodThatNoProxyInterceptsStopsTheStartUp(Class<?> type) {
        runner.withBean(type).run(context -> {
            FailureAnalysis analysis = analysis(context);
            String modifier = List.of("Private", "Static", "Final").stream()
                    .filter(word -> type.getSimpleName().startsWith(word))
                    .findFirst()
                    .orElseThrow()
                    .toLowerCase(Locale.ROOT);
            assertThat(analysis.getDescription())
                    .contains("Where: " + type.getName() + ".call()")
                    .contains("must apply to methods that a proxy can intercept (was " + modifier);
            assertThat(analysis.getAction())
                    .isEqualTo("Make it public or protected, neither static nor final, and call it from another bean.");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "CreatesABean, creates a bean, write a class for a lambda",
        "IsAFactoryBean, creates a bean, Annotate the method of the bean's class",
        "IsASmartFactoryBean, creates a bean, Annotate the method of the bean's class",
        "IsCalledAfterConstruction, no proxy, Annotate a method that other beans call",
        "IsCalledBeforeDestruction, no proxy, Annotate a method that other beans call",
        "IsInitialized, no proxy, Annotate a method that other beans call",
        "IsAware, no proxy, Annotate a method that other beans call",
        "IsWired, no proxy, Annotate a method that other beans call",
        "ProcessesDefinitions, no proxy, Annotate a method that other beans call",
        "TellsHealth, by the bean itself, Annotate a method that other beans call",
        "TellsHealthReactively, by the bean itself, Annotate a method that other beans call",
        "ChecksHealth, by the bean itself, Annotate a method that other beans call",
        "ListensToRequests, the web server answers a rejection with 500 or an error, URL rule",
        "ListensToSessions, the web server answers a rejection with 500 or an error, URL rule",
        "IsAFilter, the web server answers a rejection with 500, URL rule",
        "IsAnAnnotatedFilter, the web server answers a rejection with 500, URL rule",
        "LoadsUsers, as if the password were wrong, requests that log in",
        "LoadsUsersOfAManager, as if the password were wrong, requests that log in",
        "LoadsAccounts, as if the password were wrong, requests that log in",
        "RetrievesUsers, as if the password were wrong, requests that log in",
        "Converts, as if the value were wrong, Annotate the method that takes the value",
        "ConvertsLanguages, as if the value were wrong, Annotate the method that takes the value",
        "ConvertsUnderCondition, as if the value were wrong, Annotate the method that takes the value",
        "Formats, as if the value were wrong, Annotate the method that takes the value",
        "HandlesExceptions, a failure of the handler instead, Annotate the methods that handle requests",
        "HandlesExceptionsOfMessages, a failure of the handler instead, Annotate the methods that handle requests",
        "ChangesBodies, a failure of the handler instead, Annotate the methods that handle requests"
    })
    void methodThatAFrameworkCallsInItsOwnWayStopsTheStartUp(String type, String problem, String fix) {
        runner.withUserConfiguration(nested(type)).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + nested(type).getName() + ".")
                    .contains(
                            "must apply to methods whose callers go through a proxy and see a rejection (was on a method"
                                    + " that")
                    .contains(problem);
            assertThat(analysis.getAction()).contains(fix);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void methodThatTheBeanDefinitionNamesForItsBeginOrEndStopsTheStartUp(boolean begin) {
        runner.withBean(BeginsAndEnds.class, BeginsAndEnds::new, definition -> {
                    definition.setInitMethodName(begin ? "call" : null);
                    definition.setDestroyMethodName(begin ? null : "call");
                })
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + BeginsAndEnds.class.getName() + ".call()")
                            .contains("no proxy");
                    assertThat(analysis.getAction()).contains("Annotate a method that other beans call");
                });
    }

    @Test
    void methodsBesideThoseThatAFrameworkCallsAreLimited() {
        runner.withBean(LoadsNoAccounts.class)
                .withBean(ListensBesides.class)
                .withBean(CalledByOthers.class, CalledByOthers::new, definition -> definition.setInitMethodName("call"))
                .run(context -> {
                    Accounts accounts = context.getBean(Accounts.class);
                    accounts.register();
                    assertRejected("register", accounts::register);
                    ListensBesides listener = context.getBean(ListensBesides.class);
                    listener.call();
                    assertRejected("listens-besides-call", listener::call);
                    CalledByOthers called = context.getBean(CalledByOthers.class);
                    called.call("first");
                    assertRejected("called-by-others-call", () -> called.call("second"));
                });
    }

    /** They are known by their names. Those of patterns are found by the tests above. */
    @Test
    void typesOfFrameworksExist() {
        List<String> names = Arrays.stream(FrameworkCall.values())
                .flatMap(call -> Stream.of((String[]) ReflectionTestUtils.getField(call, "names")))
                .filter(name -> !name.contains("*"))
                .toList();
        assertThat(names)
                .hasSizeGreaterThan(15)
                .allSatisfy(name -> assertThat(Class.forName(name)).isNotNull());
    }

    @ParameterizedTest
    @CsvSource({
        "UnannotatedUsers, loadUserByUsername, as if the password were wrong",
        "UnannotatedConverter, convert, as if the value were wrong",
        "UnannotatedFilter, doFilter, the web server answers a rejection with 500"
    })
    void pointcutOnAMethodThatAFrameworkCallsInItsOwnWayStopsTheStartUp(String type, String method, String problem) {
        runner.withBean(nested(type))
                .withPropertyValues(
                        "ratelimit.limits.quotes.rate=1/h",
                        "ratelimit.limits.quotes.pointcut=execution(* "
                                + nested(type).getName() + "." + method + "(..))")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + nested(type).getName() + "." + method)
                        .contains("What: ratelimit.limits.quotes.pointcut")
                        .contains(problem));
    }

    @Test
    void annotatedPostProcessorOfDefinitionsStopsTheStartUp() {
        runner.withBean(ProcessesDefinitionsToo.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + ProcessesDefinitionsToo.class.getName() + ".call()")
                        .contains("it was created before beans are proxied"));
    }

    /** One without an order is created when beans are proxied already, and is limited. */
    @Test
    void annotatedPostProcessorThatComesFirstStopsTheStartUp() {
        runner.withBean(PostProcesses.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + PostProcesses.class.getName() + ".call()")
                        .contains("it was created before beans are proxied"));
    }

    /** Its users see the bean that it creates. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void annotatedFactoryOfABeanStopsTheStartUp(boolean lazy) {
        runner.withBean(AnnotatedFactory.class, AnnotatedFactory::new, definition -> definition.setLazyInit(lazy))
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + AnnotatedFactory.class.getName())
                            .contains("and covers no method of " + AnnotatedFactory.class.getName());
                    assertThat(analysis.getAction()).startsWith("Annotate the method of the bean's class");
                });
    }

    @Test
    void annotatedFactoryWithAMethodOfItsOwnStarts() {
        runner.withBean("factory", CalledFactory.class).run(context -> {
            CalledFactory factory = context.getBean("&factory", CalledFactory.class);
            factory.call();
            assertRejected("called-factory", factory::call);
        });
    }

    @Test
    void annotatedTypeLeavesOutWhatSpringCallsAsABeanBeginsOrEnds() {
        runner.withUserConfiguration(AnnotatedConfiguration.class).run(context -> {
            AnnotatedConfiguration limited = context.getBean(AnnotatedConfiguration.class);
            limited.call();
            assertRejected("annotated-configuration", limited::call);
        });
    }

    /** Otherwise a request would pay for each of them. */
    @Test
    void annotatedControllerLimitsTheMethodsThatHandleRequestsAlone() {
        runner.withBean(AnnotatedController.class).run(context -> {
            AnnotatedController limited = context.getBean(AnnotatedController.class);
            limited.handle();
            limited.handleWithModel();
            limited.model();
            limited.bind();
            limited.failed();
            assertRejected("annotated-controller", limited::handle);
            assertRejected("annotated-controller", limited::handleWithModel);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"HasHandlersOfExceptionsAlone", "HasNoPublicMethod", "CreatesBeansAlone"})
    void annotatedTypeWithoutAMethodToLimitStopsTheStartUp(String type) {
        runner.withUserConfiguration(nested(type)).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + nested(type).getName())
                    .contains("must cover a public method")
                    .contains("covers no method of " + nested(type).getName());
            assertThat(analysis.getAction()).contains("Annotate the methods themselves, make them public");
        });
    }

    @Test
    void annotationThatABeanInheritsAndThatCoversNoMethodStopsTheStartUpAtItsPlace() {
        runner.withBean(HasAMarker.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + Marker.class.getName())
                        .contains("covers no method of " + HasAMarker.class.getName()));
    }

    @Test
    void annotatedTypeWhoseMethodsAllHaveAnnotationsOfTheirOwnStarts() {
        runner.withBean(AllAnnotated.class).run(context -> {
            context.getBean(AllAnnotated.class).call();
            assertRejected("own", context.getBean(AllAnnotated.class)::call);
        });
    }

    @Test
    void methodThatSpringCallsBeforeTheHandlerIsLimitedIfItIsAnnotated() {
        runner.withBean(PreparesRequests.class).run(context -> {
            PreparesRequests limited = context.getBean(PreparesRequests.class);
            limited.model();
            assertRejected("prepares-requests-model", limited::model);
            limited.bind();
            assertRejected("prepares-requests-bind", limited::bind);
        });
    }

    @Test
    void methodsThatFrameworksCallThroughTheProxyAreLimited() {
        runner.withUserConfiguration(Listens.class, ListensToo.class, Advises.class)
                .run(context -> {
                    context.publishEvent("first");
                    assertRejected("listens-call", () -> context.publishEvent("second"));
                    context.publishEvent(1);
                    assertRejected("listens-too", () -> context.publishEvent(2));
                    context.getBean(Listens.class).adviceRuns();
                    assertRejected("advises-call", context.getBean(Listens.class)::adviceRuns);
                    AutowireCapableBeanFactory factory = context.getAutowireCapableBeanFactory();
                    factory.createBean(IsCreatedLater.class).call();
                    assertRejected(
                            "is-created-later-call",
                            () -> factory.createBean(IsCreatedLater.class).call());
                });
    }

    /** No bean inherits it, so that only a look at the interface finds it. */
    @Test
    void staticMethodOfAnInterfaceStopsTheStartUp() {
        runner.withBean(OfStaticInterface.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + StaticInInterface.class.getName() + ".call()")
                        .contains("must apply to methods that a proxy can intercept (was static"));
    }

    @Test
    void methodThatOnlyItsOwnPackageSeesStopsTheStartUpOfAnother() {
        runner.withBean(BelowAnotherPackage.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + PackagePrivateBase.class.getName() + ".hidden()")
                        .contains("package-private in another package than " + BelowAnotherPackage.class.getName()));
    }

    @Test
    void finalMethodOfAnotherTypeIsOnlyWarnedOf() {
        runner.withBean(BelowAFinalMethod.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(log.text())
                    .contains(WithAFinalMethod.class.getName() + ".call() is not covered by the @RateLimited of "
                            + BelowAFinalMethod.class.getName() + ", because it is final");
        });
    }

    @Test
    void finalClassWithoutInterfaceStopsTheStartUp() {
        runner.withBean(FinalClass.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains(FinalClass.class.getName())
                    .contains("must apply to a class that can be proxied (was final, without an interface)");
            assertThat(analysis.getAction())
                    .isEqualTo("Make the class non-final, or declare the method in an interface.");
        });
    }

    @Test
    void methodOutsideOfTheInterfacesOfAJdkProxyStopsTheStartUp() {
        runner.withBean("quotes", OffInterface.class, OffInterface::new)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + OffInterface.class.getName() + ".off()")
                            .contains("the bean 'quotes' is proxied by its interfaces");
                    assertThat(analysis.getAction())
                            .isEqualTo("Declare the method in an interface; or, if the class is not final, set"
                                    + " spring.aop.proxy-target-class=true.");
                });
    }

    @ParameterizedTest
    @CsvSource({
        "ReturnsOwnFuture, java.util.concurrent.CompletableFuture",
        "ReturnsConnectableFlux, reactor.core.publisher.Flux"
    })
    void methodWhoseResultCannotBeMadeByOthersStopsTheStartUp(String type, String instead) {
        runner.withBean(nested(type)).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + nested(type).getName() + ".call()")
                    .contains("the return type of a limited method must be " + instead + " or a supertype of it (was ");
            assertThat(analysis.getAction()).isEqualTo("Return " + instead + ".");
        });
    }

    private static Class<?> nested(String name) {
        return Arrays.stream(UnadvisableMethodTests.class.getDeclaredClasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"prototype", "lazy"})
    void beansThatAreNotCreatedYetAreCheckedToo(String kind) {
        runner.withBean(Final.class, Final::new, definition -> {
                    definition.setLazyInit(kind.equals("lazy"));
                    definition.setScope(kind.equals("prototype") ? "prototype" : "singleton");
                })
                .run(context -> assertThat(analysis(context).getDescription()).contains(Final.class.getName()));
    }

    static class Private {

        @RateLimited(rate = "1/s")
        private void call() {}

        void use() {
            call();
        }
    }

    static class Static {

        @RateLimited(rate = "1/s")
        public static void call() {}
    }

    interface StaticInInterface {

        @RateLimited(rate = "1/s")
        static void call() {}
    }

    static class OfStaticInterface implements StaticInInterface {}

    static class Final {

        @RateLimited(rate = "1/s")
        public final void call() {}
    }

    @RateLimited(rate = "1/s")
    static class FinalBelowAnnotatedType {

        public final void call() {}
    }

    static class WithAFinalMethod {

        public final void call() {}
    }

    @RateLimited(rate = "1/s")
    static class BelowAFinalMethod extends WithAFinalMethod {

        public void open() {}
    }

    static final class FinalClass {

        @RateLimited(rate = "1/s")
        public void call() {}
    }

    interface Quotes {

        void on();
    }

    static class OffInterface implements Quotes {

        @Override
        public void on() {}

        @RateLimited(rate = "1/s")
        public void off() {}
    }

    static class OwnFuture extends CompletableFuture<String> {}

    static class ReturnsOwnFuture {

        @RateLimited(rate = "1/s")
        public OwnFuture call() {
            return new OwnFuture();
        }
    }

    static class ReturnsConnectableFlux {

        @RateLimited(rate = "1/s")
        public ConnectableFlux<String> call() {
            return Flux.just("").publish();
        }
    }

    static class BelowAnotherPackage extends PackagePrivateBase {}

    @Configuration(proxyBeanMethods = false)
    static class CreatesABean {

        @Bean
        @RateLimited(rate = "1/h")
        Function<String, String> upper() {
            return String::toUpperCase;
        }
    }

    @RateLimited(rate = "1/h")
    static class AnnotatedFactory implements FactoryBean<String> {

        @Override
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    @RateLimited(name = "called-factory", rate = "1/h")
    static class CalledFactory extends AnnotatedFactory {

        public void call() {}
    }

    static class IsAFactoryBean implements FactoryBean<String> {

        @Override
        @RateLimited(rate = "1/h")
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    static class IsASmartFactoryBean implements SmartFactoryBean<String> {

        @Override
        @RateLimited(rate = "1/h")
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    static class IsInitialized implements InitializingBean {

        @Override
        @RateLimited(rate = "1/h")
        public void afterPropertiesSet() {}
    }

    static class IsAware implements EnvironmentAware {

        @Override
        @RateLimited(rate = "1/h")
        public void setEnvironment(Environment environment) {}
    }

    static class IsWired {

        @Autowired
        @RateLimited(rate = "1/h")
        public void wire(Environment environment) {}
    }

    static class ProcessesDefinitions implements BeanFactoryPostProcessor {

        @Override
        @RateLimited(rate = "1/h")
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}
    }

    static class ProcessesDefinitionsToo implements BeanFactoryPostProcessor {

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class BeginsAndEnds {

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class CalledByOthers {

        public void call() {}

        @RateLimited(rate = "1/h")
        public void call(String caller) {}
    }

    static class TellsHealth implements HealthIndicator {

        @Override
        @RateLimited(rate = "1/h")
        public Health health() {
            return Health.up().build();
        }
    }

    static class TellsHealthReactively implements ReactiveHealthIndicator {

        @Override
        @RateLimited(rate = "1/h")
        public Mono<Health> health() {
            return Mono.just(Health.up().build());
        }
    }

    static class ChecksHealth extends AbstractHealthIndicator {

        @Override
        @RateLimited(rate = "1/h")
        protected void doHealthCheck(Health.Builder builder) {
            builder.up();
        }
    }

    static class ListensToRequests implements ServletRequestListener {

        @Override
        @RateLimited(rate = "1/h")
        public void requestInitialized(ServletRequestEvent event) {}
    }

    static class ListensToSessions implements HttpSessionListener {

        @Override
        @RateLimited(rate = "1/h")
        public void sessionCreated(HttpSessionEvent event) {}
    }

    static class ListensBesides implements HttpSessionListener {

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class IsCalledAfterConstruction {

        @PostConstruct
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class IsCalledBeforeDestruction implements DisposableBean {

        @Override
        @RateLimited(rate = "1/h")
        public void destroy() {}
    }

    static class IsAFilter extends OncePerRequestFilter {

        @Override
        @RateLimited(rate = "1/h")
        protected void doFilterInternal(
                HttpServletRequest request, HttpServletResponse response, FilterChain filterChain) {}
    }

    @RateLimited(rate = "1/h")
    static class IsAnAnnotatedFilter implements Filter {

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) {}
    }

    static class LoadsUsers implements UserDetailsService {

        @Override
        @RateLimited(rate = "1/h")
        public UserDetails loadUserByUsername(String username) {
            throw new UsernameNotFoundException(username);
        }
    }

    static class LoadsUsersOfAManager extends InMemoryUserDetailsManager {

        @Override
        @RateLimited(rate = "1/h")
        public UserDetails loadUserByUsername(String username) {
            return super.loadUserByUsername(username);
        }
    }

    interface Accounts extends UserDetailsService {

        @RateLimited(name = "register", rate = "1/h")
        default void register() {}
    }

    static class LoadsNoAccounts implements Accounts {

        @Override
        public UserDetails loadUserByUsername(String username) {
            throw new UsernameNotFoundException(username);
        }
    }

    static class LoadsAccounts extends LoadsNoAccounts {

        @Override
        @RateLimited(rate = "1/h")
        public UserDetails loadUserByUsername(String username) {
            return super.loadUserByUsername(username);
        }
    }

    static class RetrievesUsers extends AbstractUserDetailsAuthenticationProvider {

        @Override
        protected void additionalAuthenticationChecks(
                UserDetails user, UsernamePasswordAuthenticationToken authentication) {}

        @Override
        @RateLimited(rate = "1/h")
        protected UserDetails retrieveUser(String username, UsernamePasswordAuthenticationToken authentication) {
            throw new UsernameNotFoundException(username);
        }
    }

    interface LanguageConverter extends Converter<String, Locale> {}

    static class ConvertsLanguages implements LanguageConverter {

        @Override
        @RateLimited(rate = "1/h")
        public Locale convert(String source) {
            return Locale.forLanguageTag(source);
        }
    }

    static class ConvertsUnderCondition implements ConditionalGenericConverter {

        @Override
        public boolean matches(TypeDescriptor source, TypeDescriptor target) {
            return true;
        }

        @Override
        public Set<ConvertiblePair> getConvertibleTypes() {
            return Set.of();
        }

        @Override
        @RateLimited(rate = "1/h")
        public Object convert(Object source, TypeDescriptor sourceType, TypeDescriptor targetType) {
            return source;
        }
    }

    static class Formats implements Formatter<Locale> {

        @Override
        @RateLimited(rate = "1/h")
        public Locale parse(String text, Locale locale) {
            return Locale.forLanguageTag(text);
        }

        @Override
        public String print(Locale object, Locale locale) {
            return object.toLanguageTag();
        }
    }

    static class Converts implements Converter<String, Locale> {

        @Override
        @RateLimited(rate = "1/h")
        public Locale convert(String source) {
            return Locale.forLanguageTag(source);
        }
    }

    static class Listens {

        @EventListener
        @RateLimited(rate = "1/h")
        public void call(String event) {}

        public void adviceRuns() {}
    }

    static class ListensToo implements ApplicationListener<PayloadApplicationEvent<Integer>> {

        @Override
        @RateLimited(name = "listens-too", rate = "1/h")
        public void onApplicationEvent(PayloadApplicationEvent<Integer> event) {}
    }

    static class PostProcesses implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class UnannotatedUsers implements UserDetailsService {

        @Override
        public UserDetails loadUserByUsername(String username) {
            throw new UsernameNotFoundException(username);
        }
    }

    static class UnannotatedConverter implements Converter<String, Locale> {

        @Override
        public Locale convert(String source) {
            return Locale.forLanguageTag(source);
        }
    }

    static class UnannotatedFilter implements Filter {

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) {}
    }

    @Aspect
    @EnableAspectJAutoProxy
    static class Advises {

        @Before("execution(* io.ratelimit.aop.UnadvisableMethodTests.Listens.adviceRuns())")
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class IsCreatedLater {

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    @Configuration
    @RateLimited(rate = "1/h")
    static class AnnotatedConfiguration implements InitializingBean, EnvironmentAware {

        public void call() {}

        @Autowired
        public void wire(Environment environment) {}

        @Override
        public void setEnvironment(Environment environment) {}

        @Override
        public void afterPropertiesSet() {}

        @Bean
        public Locale locale() {
            return Locale.ROOT;
        }
    }

    @RateLimited(capacity = 2, rate = "2/h")
    static class AnnotatedController {

        @GetMapping
        public void handle() {}

        @GetMapping
        @ModelAttribute
        public void handleWithModel() {}

        @ModelAttribute
        public void model() {}

        @InitBinder
        public void bind() {}

        @ExceptionHandler
        public void failed() {}
    }

    static class PreparesRequests {

        @ModelAttribute
        @RateLimited(rate = "1/h")
        public void model() {}

        @InitBinder
        @RateLimited(rate = "1/h")
        public void bind() {}
    }

    static class HandlesExceptions {

        @ExceptionHandler
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class HandlesExceptionsOfMessages {

        @MessageExceptionHandler
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class ChangesBodies implements ResponseBodyAdvice<String> {

        @Override
        public boolean supports(MethodParameter result, Class<? extends HttpMessageConverter<?>> converter) {
            return true;
        }

        @Override
        @RateLimited(rate = "1/h")
        public String beforeBodyWrite(
                String body,
                MethodParameter result,
                MediaType type,
                Class<? extends HttpMessageConverter<?>> converter,
                ServerHttpRequest request,
                ServerHttpResponse response) {
            return body;
        }
    }

    @RateLimited(rate = "1/h")
    static class HasHandlersOfExceptionsAlone {

        @ModelAttribute
        public void model() {}

        @InitBinder
        public void bind() {}

        @ExceptionHandler
        public void failed() {}
    }

    @RateLimited(rate = "1/h")
    static class HasNoPublicMethod {

        void call() {}
    }

    @Configuration
    @RateLimited(rate = "1/h")
    static class CreatesBeansAlone {

        @Bean
        public Locale locale() {
            return Locale.ROOT;
        }
    }

    @RateLimited(rate = "1/h")
    interface Marker {}

    static class HasAMarker implements Marker {

        public void call() {}
    }

    @RateLimited(rate = "1/h")
    static class AllAnnotated {

        @RateLimited(name = "own", rate = "1/h")
        public void call() {}
    }
}
