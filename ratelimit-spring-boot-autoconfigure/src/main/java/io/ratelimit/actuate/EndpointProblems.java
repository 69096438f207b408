package io.ratelimit.actuate;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limiter.UnknownLimitException;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.invoke.ParameterMappingException;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.http.HttpStatus;
import org.springframework.util.MimeType;

/**
 * Advises the operations of {@link RateLimitsEndpoint}: refuses attributes that they do not know, passes the authenticated
 * principal, and answers HTTP requests that fail with problem details. Over JMX, exceptions are thrown.
 */
public final class EndpointProblems implements OperationInvokerAdvisor {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String FOREIGN_BUCKET =
            "Redis holds a value at the key of this bucket that the starter did not write. Nothing was changed. To delete the"
                    + " value, reset the bucket (DELETE with the same key). If another application writes it, choose another"
                    + " ratelimit.redis.key-prefix.";

    private static final String FOREIGN_OVERRIDES =
            "Redis holds a value at the key of the overrides that the starter did not write. Nothing was changed. Delete the"
                    + " key (the value of ratelimit.redis.key-prefix, then :%overrides), and send the request again. If another"
                    + " application writes it, choose another ratelimit.redis.key-prefix.";

    private static final MimeType PROBLEM = MimeType.valueOf("application/problem+json");

    private static final String PRINCIPAL = "principal";

    @Override
    public OperationInvoker apply(
            EndpointId endpoint, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
        if (!endpoint.equals(EndpointId.of(RateLimitsEndpoint.ID))) {
            return invoker;
        }
        Set<String> known = parameters.stream()
                .map(OperationParameter::getName)
                .filter(name -> !name.equals(PRINCIPAL))
                .collect(Collectors.toSet());
        return context -> context.canResolve(WebServerNamespace.class)
                ? answer(context, type, known, invoker)
                : invoker.invoke(context);
    }

    private static @Nullable Object answer(
            InvocationContext context, OperationType type, Set<String> known, OperationInvoker invoker) {
        try {
            checkKey(context);
            return invoker.invoke(type == OperationType.READ ? context : change(context, known));
        } catch (RuntimeException ex) {
            int status = status(ex);
            if (status == 0) {
                throw ex;
            }
            return problem(status, detail(ex, context));
        }
    }

    private static InvocationContext change(InvocationContext context, Set<String> known) {
        Map<String, Object> arguments = new HashMap<>(context.getArguments());
        for (String name : arguments.keySet()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException("There is no attribute '" + name + "'"
                        + meant(name, known)
                                .map(nearest -> "; did you mean '" + nearest + "'?")
                                .orElse("."));
            }
        }
        SecurityContext caller =
                Objects.requireNonNullElse(context.resolveArgument(SecurityContext.class), SecurityContext.NONE);
        if (caller.getPrincipal() != null) {
            arguments.put(PRINCIPAL, caller.getPrincipal().getName());
        }
        return new InvocationContext(caller, arguments);
    }

    /** Returns an attribute that starts with this name, else the most similar one. */
    private static Optional<String> meant(String name, Set<String> known) {
        String start = LimitNames.canonical(name);
        return known.stream()
                .filter(each -> !start.isEmpty() && LimitNames.canonical(each).startsWith(start))
                .min(Comparator.naturalOrder())
                .or(() -> LimitNames.nearest(name, known));
    }

    /** A list would become a text of all its values. */
    private static void checkKey(InvocationContext context) {
        if (context.getArguments().get("key") instanceof Collection) {
            throw new IllegalArgumentException("key must be sent once.");
        }
    }

    /** Returns the status of the answer; 0 if the failure is none of the caller or the store. */
    private static int status(RuntimeException failure) {
        if (failure instanceof UnknownLimitException) {
            return 404;
        }
        if (failure instanceof RateLimitConflictException) {
            return 409;
        }
        if (failure instanceof RateLimitStoreException) {
            return 503;
        }
        if (failure instanceof UnsupportedOperationException) {
            return 501;
        }
        boolean invalid = failure instanceof IllegalArgumentException
                || failure instanceof RateLimitConfigurationException
                || failure instanceof InvalidEndpointRequestException;
        return invalid ? 400 : 0;
    }

    private static String detail(RuntimeException failure, InvocationContext context) {
        if (failure instanceof RateLimitStoreException known && known.getReason() == Reason.FOREIGN_VALUE) {
            logger.log(
                    Level.WARNING,
                    "Request to the endpoint ratelimits failed ({0}); nothing was changed",
                    causes(known));
            return context.getArguments().get("key") == null ? FOREIGN_OVERRIDES : FOREIGN_BUCKET;
        }
        return failure instanceof ParameterMappingException mapping
                ? mapping.getParameter().getName() + " must be "
                        + expected(mapping.getParameter().getType()) + " (was \"" + mapping.getValue() + "\")."
                : String.valueOf(failure.getMessage());
    }

    /** A refusal has the message of Redis in its cause. */
    private static String causes(RateLimitStoreException failure) {
        return failure.getCause() instanceof RateLimitStoreException cause
                ? causes(cause)
                : String.valueOf(failure.getMessage());
    }

    private static String expected(Class<?> type) {
        if (type == Boolean.class) {
            return "true or false";
        }
        return type == Long.class
                ? "a whole number"
                : "one of "
                        + Arrays.stream(type.getEnumConstants())
                                .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "));
    }

    private static WebEndpointResponse<Map<String, Object>> problem(int status, String detail) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("title", HttpStatus.valueOf(status).getReasonPhrase());
        problem.put("status", status);
        problem.put("detail", detail);
        return new WebEndpointResponse<>(problem, status, PROBLEM);
    }
}
