package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;

/** Applications with limits: in memory, with a clock that stands still and a listener that remembers. */
public final class LimitedContexts {

    private LimitedContexts() {}

    public static ApplicationContextRunner inMemory() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(StoppedClock.class)
                .withBean(RecordingListener.class)
                .withPropertyValues("ratelimit.store=in-memory");
    }

    public static WebApplicationContextRunner inMemoryServlet() {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class, RateLimitServletAutoConfiguration.class))
                .withBean(StoppedClock.class)
                .withBean(RecordingListener.class)
                .withPropertyValues("ratelimit.store=in-memory");
    }

    /** The call is rejected, by this limit first of all. */
    public static void assertRejected(String limit, ThrowingCallable call) {
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(call)
                .satisfies(rejection -> assertThat(rejection.getLimitName()).isEqualTo(limit));
    }

    /** The call is rejected, by this limit first of all, and says so in its future. */
    public static void assertRejected(String limit, Future<?> call) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(call::get)
                .havingCause()
                .isInstanceOfSatisfying(
                        RateLimitExceededException.class,
                        rejection -> assertThat(rejection.getLimitName()).isEqualTo(limit));
    }

    /** The start-up failed, and this is what the user reads of it. */
    public static FailureAnalysis analysis(AssertableApplicationContext context) {
        assertThat(context).hasFailed();
        return analysis(context.getStartupFailure());
    }

    /** What the first of all registered analyzers makes of a failure, as Spring Boot asks them. */
    public static FailureAnalysis analysis(Throwable failure) {
        List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
                .load(
                        FailureAnalyzer.class,
                        ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory())
                                .and(Environment.class, new StandardEnvironment()),
                        // Some are for libraries that are not here.
                        (type, name, unusable) -> {});
        return analyzers.stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No analyzer knows it", failure));
    }
}
