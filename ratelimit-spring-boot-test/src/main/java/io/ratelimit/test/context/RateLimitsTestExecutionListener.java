package io.ratelimit.test.context;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.LimitState;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.DisableRateLimits;
import io.ratelimit.test.MutableTimeSource;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Resets the limits, their overrides and the clock before each test method, and before what the test class runs before it. */
final class RateLimitsTestExecutionListener extends AbstractTestExecutionListener {

    @Override
    public void beforeTestMethod(TestContext test) {
        boolean disabled = AnnotatedElementUtils.hasAnnotation(test.getTestMethod(), DisableRateLimits.class);
        if (!disabled && !test.hasApplicationContext()) {
            return;
        }
        ApplicationContext context = test.getApplicationContext();
        TestRateLimits limits = context.getBeanProvider(TestRateLimits.class).getIfAvailable();
        if (limits != null) {
            removeOverrides(context);
            limits.reset(disabled);
            context.getBeanProvider(MutableTimeSource.class).ifAvailable(MutableTimeSource::reset);
        } else if (disabled && context.getBeanProvider(RateLimitGate.class).getIfAvailable() != null) {
            throw new IllegalStateException("@" + DisableRateLimits.class.getSimpleName() + " on the method "
                    + test.getTestMethod().getName() + " must be in a class with @"
                    + AutoConfigureRateLimits.class.getSimpleName() + ". Add this, or annotate the class.");
        }
    }

    private static void removeOverrides(ApplicationContext context) {
        context.getBeanProvider(LimitCatalog.class).stream()
                .flatMap(catalog -> catalog.effective().stream())
                .forEach(limit -> limit.state().overrides().keySet().forEach(plan -> {
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    (plan.equals(LimitState.OF_LIMIT) ? admin : admin.forPlan(plan)).removeOverride(limit.name());
                }));
    }
}
