package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Shows a limit's mistake as place, problem and fix instead of a stack trace. Comes before the analyzer of whatever
 * Spring has wrapped it in.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RateLimitConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<RateLimitConfigurationException> {

    private final PropertyOrigins origins;

    RateLimitConfigurationFailureAnalyzer(Environment environment) {
        this.origins = new PropertyOrigins(environment);
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RateLimitConfigurationException mistake) {
        StringBuilder description =
                new StringBuilder("The configuration of the rate limits is invalid.%n%n".formatted());
        if (mistake.getPlace() != null) {
            description.append("Where: %s%n".formatted(mistake.getPlace()));
        }
        origins.of(mistake.getProblem()).ifPresent(origin -> description.append("Origin: %s%n".formatted(origin)));
        description.append("What: ").append(mistake.getProblem());
        return new FailureAnalysis(description.toString(), mistake.getFix(), rootFailure);
    }
}
