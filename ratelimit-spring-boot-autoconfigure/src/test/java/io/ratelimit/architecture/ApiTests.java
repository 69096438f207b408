package io.ratelimit.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.ratelimit.Internal;
import io.ratelimit.RateLimitException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What users may rely on. A type that becomes public joins this list or is marked {@link Internal}. */
class ApiTests {

    private static final JavaClasses STARTER = StarterClasses.all();

    private static final List<String> API = List.of(
            "AllCallers",
            "Algorithm",
            "spi.Charge",
            "Internal",
            "MissingRateLimitKeyException",
            "OnStoreFailure",
            "OutboundRateLimitExceededException",
            "Rate",
            "RateLimit",
            "RateLimitAdmin",
            "RateLimitAlgorithm",
            "RateLimitBuilder",
            "event.RateLimitChangedEvent",
            "RateLimitConfigurationException",
            "RateLimitConflictException",
            "spi.RateLimitCustomizer",
            "RateLimitDecision",
            "RateLimitExceededException",
            "RateLimitException",
            "RateLimitExpressionException",
            "RateLimitInputException",
            "RateLimitInterruptedException",
            "spi.RateLimitKeyContext",
            "spi.RateLimitKeyResolver",
            "spi.RateLimitListener",
            "RateLimitOverride",
            "RateLimitPlan",
            "spi.RateLimitPlanResolver",
            "RateLimitRefusedException",
            "event.RateLimitRejectedEvent",
            "RateLimitStatus",
            "RateLimitStoreException",
            "event.RateLimitStoreFailureEvent",
            "event.RateLimitStoreRecoveredEvent",
            "RateLimiter",
            "RateLimiterRegistry",
            "Refill",
            "Scope",
            "spi.TimeSource",
            "spi.Waiter",
            "spi.BucketChange",
            "spi.KeyDigest",
            "spi.Lease",
            "spi.RateLimitStore",
            "spi.ReceiptRefund",
            "spi.Refund",
            "spi.StoreAnswer",
            "spi.StoreFailure",
            "spi.StoreHealth",
            "spi.StoreOutcome",
            "spi.StoreRequest",
            "standalone.RateLimiters",
            "redis.standalone.RedisStore",
            "redis.RateLimitLibrary",
            "redis.RateLimitScript",
            "redis.RateLimitScriptExecutor",
            "redis.RedisClock",
            "redis.RedisTopology",
            "annotation.RateLimited",
            "annotation.RateLimits",
            "ai.RateLimitAdvisor",
            "reactor.RateLimiterOperator",
            "web.client.RateLimitClientInterceptor",
            "web.client.RateLimitExchangeFilterFunction",
            "web.client.RemoteRateLimitExceededException",
            "web.function.RateLimitFilterFunctions");

    @Test
    void publicTypesThatAreNotInternalAreTheApi() {
        assertThat(STARTER.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(JavaClass::isTopLevelClass)
                        .filter(type -> !isInternal(type))
                        .map(type -> type.getName().substring("io.ratelimit.".length())))
                .containsExactlyInAnyOrderElementsOf(API);
    }

    @Test
    void rootHasAtMost28Types() {
        assertThat(API).filteredOn(type -> !type.contains(".")).hasSizeLessThanOrEqualTo(28);
    }

    @Test
    void apiSpeaksOfTheApiOnly() {
        assertThat(STARTER.stream()
                        .filter(type -> !isInternal(type) && type.getModifiers().contains(JavaModifier.PUBLIC))
                        .flatMap(type -> SignatureTypes.of(type))
                        .filter(type -> type.getName().startsWith("io.ratelimit."))
                        .filter(ApiTests::isInternal)
                        .map(JavaClass::getName))
                .isEmpty();
    }

    @Test
    void exceptionsHaveOneSupertype() {
        assertThat(STARTER.stream()
                        .filter(type -> type.isAssignableTo(Throwable.class)
                                && type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !isInternal(type) && !type.isAssignableTo(RateLimitException.class))
                        .map(JavaClass::getName))
                .isEmpty();
    }

    private static boolean isInternal(JavaClass type) {
        return type.isAnnotatedWith(Internal.class) || type.getPackage().isAnnotatedWith(Internal.class);
    }
}
