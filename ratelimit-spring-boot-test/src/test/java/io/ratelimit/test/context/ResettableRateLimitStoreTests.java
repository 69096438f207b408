package io.ratelimit.test.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.verifyNoMoreInteractions;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mockito.invocation.Invocation;

class ResettableRateLimitStoreTests {

    private static final Charge CHARGE =
            new Charge(RateLimit.named("exports").rate("5/m").build(), "acme", 2);

    /** An argument of each type that methods of a store have. */
    private static final Map<Class<?>, Object> ARGUMENTS = Map.of(
            StoreRequest.class,
            StoreRequest.of(List.of(CHARGE)),
            Charge.class,
            CHARGE,
            RateLimit.class,
            CHARGE.limit(),
            String.class,
            "acme",
            BucketChange.class,
            BucketChange.NONE);

    private final RateLimitStore store = mock();

    private final ResettableRateLimitStore resettable = new ResettableRateLimitStore(store);

    static Stream<Method> methods() {
        return Arrays.stream(RateLimitStore.class.getMethods());
    }

    /** A default method, too: its own result is that of a store that cannot do what the wrapped one can. */
    @ParameterizedTest
    @MethodSource("methods")
    void passesEachMethodOn(Method method) throws ReflectiveOperationException {
        Object[] arguments =
                Arrays.stream(method.getParameterTypes()).map(ARGUMENTS::get).toArray();

        method.invoke(resettable, arguments);

        assertThat(mockingDetails(store).getInvocations())
                .extracting(Invocation::getMethod)
                .containsExactly(method);
        assertThat(mockingDetails(store).getInvocations().iterator().next().getArguments())
                .containsExactly(arguments);
    }

    @Test
    void chargesNothingWhileDisabled() {
        resettable.reset(true);

        assertThat(resettable.charge(CHARGE)).isCompleted();
        verifyNoMoreInteractions(store);
    }
}
