package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Shows a limit's mistake as place, problem and fix instead of a stack trace. Comes before the analyzer of whatever
 * Spring has wrapped it in.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RateLimitConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<RateLimitConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RateLimitConfigurationException mistake) {
        String place = mistake.getPlace();
        String description = "A rate limit cannot work as it is declared.%n%n".formatted()
                + (place == null ? "" : "Where: %s%n".formatted(place))
                + "What: " + mistake.getProblem();
        return new FailureAnalysis(description, mistake.getFix(), rootFailure);
    }
}
