package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import jakarta.annotation.security.PermitAll;
import jakarta.annotation.security.RolesAllowed;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;

class FallbackMethodTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void isCalledInsteadOfThrowing() {
        runner.withBean(Quotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            assertThat(quotes.plain("a")).isEqualTo("quote a");
            assertThat(quotes.plain("b")).isEqualTo("stale b");
        });
    }

    @Test
    void theLimitedMethodIsNoFallbackOfItself() {
        runner.withBean(OfItself.class)
                .run(
                        context -> assertThat(analysis(context).getDescription())
                                .contains(
                                        "fallbackMethod must fit the limited method (was \"call\"): there is no other method of that name"));
    }

    @Test
    void takesTheRejectionLast() {
        runner.withBean(Quotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.withException("a");
            assertThat(quotes.withException("b")).isEqualTo("b: Rate limit 'quotes-with-exception' exceeded");
        });
    }

    @Test
    void canBePrivateOrInherited() {
        runner.withBean(Quotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.inheriting("a");
            assertThat(quotes.inheriting("b")).isEqualTo("inherited b");
        });
    }

    @Test
    void canBeADefaultMethodOfTheInterface() {
        runner.withBean("quotes", Clients.class, () -> id -> "fresh " + id).run(context -> {
            Clients clients = context.getBean(Clients.class);
            clients.get("a");
            assertThat(clients.get("b")).isEqualTo("default b");
        });
    }

    @Test
    void ofAnAnnotatedTypeIsNotLimitedItself() {
        runner.withBean(AnnotatedType.class).run(context -> {
            AnnotatedType bean = context.getBean(AnnotatedType.class);
            assertThat(bean.stale("a")).isEqualTo("stale a");
            assertThat(bean.quote("b")).isEqualTo("quote b");
            assertThat(bean.quote("c")).isEqualTo("stale c");
            assertThat(bean.stale("d")).isEqualTo("stale d");
        });
    }

    @Test
    void ofAnAnnotatedTypeDoesNotOpenOtherMethodsOfItsName() {
        runner.withBean(AnnotatedTypeWithAnOverload.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + AnnotatedTypeWithAnOverload.class.getName() + ".stale(int)"));
    }

    @Test
    void whatItThrowsReachesTheCaller() {
        runner.withBean(Quotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.throwing("a");
            assertThat(catchThrowable(() -> quotes.throwing("b")))
                    .isInstanceOf(IOException.class)
                    .hasMessage("no b");
        });
    }

    /** It would answer callers that Spring Security rejects. */
    @ParameterizedTest
    @ValueSource(classes = {Secured.class, SecuredType.class, SecuredFallback.class, SecuredInterface.class})
    void calledBeforeSecurityStopsTheStartUp(Class<?> type) {
        runner.withBean(type).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains(
                            "fallbackMethod must not be called before Spring Security has authorized the call (was on a"
                                    + " method with @" + (type == SecuredType.class ? "RolesAllowed" : "PreAuthorize"));
            assertThat(analysis.getAction()).startsWith("Set ratelimit.order: after-security");
        });
        runner.withBean(type)
                .withPropertyValues("ratelimit.order=600")
                .run(context -> assertThat(context).hasFailed());
        runner.withBean(type)
                .withPropertyValues("ratelimit.order=601")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void calledAfterSecurityAnswersAuthorizedCallersAlone() {
        runner.withUserConfiguration(MethodSecurity.class)
                .withBean(Secured.class)
                .withPropertyValues("ratelimit.order=after-security")
                .run(context -> {
                    Secured secured = context.getBean(Secured.class);
                    login("ROLE_ADMIN");
                    secured.quote();
                    assertThat(secured.quote()).isEqualTo("stale");
                    login("ROLE_GUEST");
                    assertThat(catchThrowable(secured::quote)).isInstanceOf(AccessDeniedException.class);
                });
    }

    @Test
    void ofAMethodThatAllMayCallNeedsNoSecurity() {
        runner.withBean(Permitted.class).run(context -> assertThat(context).hasNotFailed());
    }

    /** Such as those of Jersey, which authorizes the request before. */
    @Test
    void rolesWithoutSpringSecurityAreNotItsBusiness() {
        runner.withBean(SecuredType.class)
                .withClassLoader(new FilteredClassLoader("org.springframework.security"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static void login(String role) {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("user", "", role));
    }

    @AfterEach
    void logout() {
        SecurityContextHolder.clearContext();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableMethodSecurity
    static class MethodSecurity {}

    static class Secured {

        @PreAuthorize("hasRole('ADMIN')")
        @RateLimited(rate = "1/h", fallbackMethod = "stale")
        public String quote() {
            return "quote";
        }

        String stale() {
            return "stale";
        }
    }

    @RolesAllowed("ADMIN")
    public static class SecuredType {

        @RateLimited(rate = "1/h", fallbackMethod = "stale")
        public String quote() {
            return "quote";
        }

        String stale() {
            return "stale";
        }
    }

    @RolesAllowed("ADMIN")
    static class Permitted {

        @PermitAll
        @RateLimited(rate = "1/h", fallbackMethod = "stale")
        public String quote() {
            return "quote";
        }

        String stale() {
            return "stale";
        }
    }

    static class SecuredFallback {

        @RateLimited(rate = "1/h", fallbackMethod = "stale")
        public String quote() {
            return "quote";
        }

        @PreAuthorize("hasRole('ADMIN')")
        public String stale() {
            return "stale";
        }
    }

    interface SecuredQuotes {

        @PreAuthorize("hasRole('ADMIN')")
        String quote();
    }

    static class SecuredInterface implements SecuredQuotes {

        @Override
        @RateLimited(rate = "1/h", fallbackMethod = "stale")
        public String quote() {
            return "quote";
        }

        String stale() {
            return "stale";
        }
    }

    @Test
    void isNotCalledForAnErrorOfAnExpression() {
        runner.withBean(Quotes.class)
                .run(context -> assertThat(catchThrowable(
                                () -> context.getBean(Quotes.class).keyed(null)))
                        .isInstanceOf(RateLimitExpressionException.class));
    }

    @ParameterizedTest
    @ValueSource(classes = {Missing.class, OtherParameters.class, OtherReturnType.class, OtherException.class})
    void unusableOneStopsTheStartUp(Class<?> type) {
        runner.withBean(type).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + type.getName() + ".quote(String)")
                    .contains("fallbackMethod must fit the limited method (was \"stale\"): there is ")
                    .contains(
                            type == Missing.class
                                    ? "no other method of that name"
                                    : "only " + type.getName() + ".stale(");
            assertThat(analysis.getAction())
                    .isEqualTo(
                            "Declare in %s: String stale(String), or the same with a RateLimitExceededException as last parameter."
                                    .formatted(type.getSimpleName()));
        });
    }

    @Test
    void twoDifferentOnesStopTheStartUp() {
        runner.withBean(Two.class).run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: " + Two.class.getName() + ".quote()")
                    .contains("fallbackMethod must be the same in all annotations of a method (was one, two)");
            assertThat(analysis.getAction()).isEqualTo("Name one method in all of them.");
        });
    }

    static class Base {

        @SuppressWarnings("unused")
        private String inherited(CharSequence id) {
            return "wrong parameters";
        }

        protected String inherited(String id) {
            return "inherited " + id;
        }
    }

    static class Quotes extends Base {

        @RateLimited(rate = "1/s", fallbackMethod = "stale")
        public Object plain(String id) {
            return "quote " + id;
        }

        @SuppressWarnings("unused")
        private String stale(String id) {
            return "stale " + id;
        }

        @RateLimited(rate = "1/s", fallbackMethod = "explained")
        public String withException(String id) {
            return "quote " + id;
        }

        String explained(String id, RateLimitExceededException rejection) {
            return id + ": " + rejection.getMessage();
        }

        @RateLimited(rate = "1/s", fallbackMethod = "inherited")
        public String inheriting(String id) {
            return "quote " + id;
        }

        @RateLimited(rate = "1/s", fallbackMethod = "fail")
        public String throwing(String id) throws IOException {
            return "quote " + id;
        }

        String fail(String id, RuntimeException rejection) throws IOException {
            throw new IOException("no " + id, rejection);
        }

        @RateLimited(rate = "1/s", keyExpression = "#id", fallbackMethod = "stale")
        public Object keyed(String id) {
            return "quote " + id;
        }
    }

    public interface Clients {

        @RateLimited(rate = "1/s", fallbackMethod = "stale")
        String get(String id);

        default String stale(String id) {
            return "default " + id;
        }
    }

    @RateLimited(name = "typed", rate = "1/s", fallbackMethod = "stale")
    static class AnnotatedType {

        public String quote(String id) {
            return "quote " + id;
        }

        public String stale(String id) {
            return "stale " + id;
        }
    }

    static class AnnotatedTypeWithAnOverload extends AnnotatedType {

        public String stale(int number) {
            return "stale " + number;
        }
    }

    static class Missing {

        @RateLimited(rate = "1/s", fallbackMethod = "stale")
        public String quote(String id) {
            return id;
        }
    }

    static class OtherParameters extends Missing {

        String stale(Object id) {
            return "";
        }

        @Override
        @RateLimited(rate = "1/s", fallbackMethod = "stale")
        public String quote(String id) {
            return id;
        }
    }

    static class OtherReturnType {

        @RateLimited(rate = "1/s", fallbackMethod = "stale")
        public String quote(String id) {
            return id;
        }

        Object stale(String id) {
            return id;
        }
    }

    static class OtherException {

        @RateLimited(rate = "1/s", fallbackMethod = "stale")
        public String quote(String id) {
            return id;
        }

        List<String> stale(String id, IOException rejection) {
            return List.of(id);
        }
    }

    static class Two {

        @RateLimited(name = "a", rate = "1/s", fallbackMethod = "one")
        @RateLimited(name = "b", rate = "1/s", fallbackMethod = "two")
        public void quote() {}

        void one() {}

        void two() {}
    }

    static class OfItself {

        @RateLimited(rate = "1/s", fallbackMethod = "call")
        public void call() {}
    }
}
