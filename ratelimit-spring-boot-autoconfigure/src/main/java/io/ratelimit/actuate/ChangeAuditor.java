package io.ratelimit.actuate;

import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;

/** Publishes an audit event for each change that this instance has made, or has sent without an answer. */
public record ChangeAuditor(ApplicationEventPublisher publisher)
        implements ApplicationListener<PayloadApplicationEvent<RateLimitChangedEvent>> {

    /** The type of the audit events of changes. */
    public static final String TYPE = "RATE_LIMIT_CHANGED";

    /** The type of the audit events of changes whose answer was lost. */
    public static final String UNCONFIRMED = "RATE_LIMIT_CHANGE_UNCONFIRMED";

    @Override
    @SuppressWarnings("NullAway") // Only the compilers of later JDKs know that an audit event may have null.
    public void onApplicationEvent(PayloadApplicationEvent<RateLimitChangedEvent> published) {
        RateLimitChangedEvent event = published.getPayload();
        if (event.madeHere()) {
            String type = event.kind() == Kind.UNCONFIRMED ? UNCONFIRMED : TYPE;
            publisher.publishEvent(new AuditApplicationEvent(new AuditEvent(event.principal(), type, data(event))));
        }
    }

    private static Map<String, Object> data(RateLimitChangedEvent event) {
        Map<String, Object> data = new LinkedHashMap<>();
        data.put("limit", event.limitName());
        data.put("kind", event.kind().name().toLowerCase(Locale.ROOT));
        if (!event.change().isEmpty()) {
            data.put("change", event.change());
        }
        if (event.until() != null) {
            data.put("until", event.until().toString());
        }
        return data;
    }
}
