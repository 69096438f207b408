package io.ratelimit.aop;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.Evaluation;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Of a call. What SpEL needs takes longer to make than most keys to read, so it is made when it is asked for. */
final class CallEvaluation implements Evaluation {

    private final LimitedCall call;

    private final @Nullable CallerRequest request;

    private @Nullable EvaluationContext context;

    CallEvaluation(LimitedCall call, @Nullable CallerRequest request) {
        this.call = call;
        this.request = request;
    }

    @Override
    public @Nullable Object[] arguments() {
        return call.invocation().getArguments();
    }

    @Override
    public EvaluationContext context() {
        EvaluationContext known = context;
        if (known == null) {
            known = call.limited().context(call.invocation().getThis(), arguments(), request);
            context = known;
        }
        return known;
    }
}
