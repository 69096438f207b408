package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a limit's mistake as place, problem and fix instead of a stack trace. */
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
