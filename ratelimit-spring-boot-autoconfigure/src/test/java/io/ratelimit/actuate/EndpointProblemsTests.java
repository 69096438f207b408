package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.LogRecorder;
import java.security.Principal;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationArgumentResolver;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;

class EndpointProblemsTests {

    private static final OperationArgumentResolver WEB =
            OperationArgumentResolver.of(WebServerNamespace.class, () -> WebServerNamespace.SERVER);

    private static final SecurityContext ALICE = new SecurityContext() {

        @Override
        public Principal getPrincipal() {
            return () -> "alice";
        }

        @Override
        public boolean isUserInRole(String role) {
            return false;
        }
    };

    @Test
    void authenticatedPrincipalIsTheAuthor() {
        OperationInvoker advised = advised(OperationType.WRITE, context -> context.getArguments());
        assertThat(advised.invoke(new InvocationContext(ALICE, Map.of("limit", "quotes"), WEB)))
                .isEqualTo(Map.of("limit", "quotes", "principal", "alice"));
        assertThat(advised.invoke(new InvocationContext(SecurityContext.NONE, Map.of("limit", "quotes"), WEB)))
                .isEqualTo(Map.of("limit", "quotes"));
    }

    @Test
    void requestDoesNotChooseThePrincipal() {
        OperationInvoker advised = advised(OperationType.WRITE, context -> context.getArguments());
        assertThat(((WebEndpointResponse<?>)
                                advised.invoke(new InvocationContext(ALICE, Map.of("principal", "bob"), WEB)))
                        .getStatus())
                .isEqualTo(400);
    }

    @Test
    void storeFailureIsAnUnavailableService() {
        OperationInvoker advised = advised(OperationType.READ, context -> {
            throw new RateLimitStoreException(Reason.TIMEOUT, "no answer in time", null);
        });
        WebEndpointResponse<?> answer = (WebEndpointResponse<?>)
                advised.invoke(new InvocationContext(SecurityContext.NONE, Map.of("limit", "quotes"), WEB));
        assertThat(answer.getStatus()).isEqualTo(503);
        assertThat(answer.getBody())
                .isEqualTo(Map.of("title", "Service Unavailable", "status", 503, "detail", "no answer in time"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void foreignValueIsExplainedAndTheReplyOfRedisIsInTheLog(boolean isRefusal) {
        RateLimitStoreException foreign = new RateLimitStoreException(Reason.FOREIGN_VALUE, "Redis: WRONGTYPE x", null);
        OperationInvoker advised = advised(OperationType.WRITE, context -> {
            throw isRefusal ? new RateLimitRefusedException(foreign) : foreign;
        });
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit")) {
            assertThat(detail(advised, Map.of("limit", "quotes")))
                    .startsWith("Redis holds a value at the key of the overrides")
                    .contains("Delete the key", ":%overrides")
                    .doesNotContain("WRONGTYPE");
            assertThat(log.lines())
                    .containsExactly(
                            "Request to the endpoint ratelimits failed (Redis: WRONGTYPE x); nothing was changed");
        }
    }

    private static String detail(OperationInvoker advised, Map<String, Object> arguments) {
        WebEndpointResponse<?> answer =
                (WebEndpointResponse<?>) advised.invoke(new InvocationContext(SecurityContext.NONE, arguments, WEB));
        assertThat(answer.getStatus()).isEqualTo(503);
        return (String) ((Map<?, ?>) answer.getBody()).get("detail");
    }

    @Test
    void otherFailuresAndThoseOverJmxAreThrown() {
        OperationInvoker broken = advised(OperationType.READ, context -> {
            throw new IllegalStateException("broken");
        });
        assertThatThrownBy(() -> broken.invoke(new InvocationContext(SecurityContext.NONE, Map.of(), WEB)))
                .hasMessage("broken");
        OperationInvoker invalid = advised(OperationType.WRITE, context -> {
            throw new IllegalArgumentException("invalid");
        });
        assertThatThrownBy(() -> invalid.invoke(new InvocationContext(SecurityContext.NONE, Map.of())))
                .hasMessage("invalid");
    }

    @Test
    void otherEndpointsAreLeftAlone() {
        OperationInvoker invoker = context -> "other";
        assertThat(new EndpointProblems().apply(EndpointId.of("loggers"), OperationType.WRITE, parameters(), invoker))
                .isSameAs(invoker);
    }

    private static OperationInvoker advised(OperationType type, OperationInvoker invoker) {
        return new EndpointProblems()
                .apply(EndpointId.of("ratelimits"), type, parameters("limit", "capacity", "principal"), invoker);
    }

    private static OperationParameters parameters(String... names) {
        OperationParameters parameters = mock();
        when(parameters.stream()).thenReturn(Stream.of(names).map(name -> {
            OperationParameter parameter = mock();
            when(parameter.getName()).thenReturn(name);
            return parameter;
        }));
        return parameters;
    }
}
