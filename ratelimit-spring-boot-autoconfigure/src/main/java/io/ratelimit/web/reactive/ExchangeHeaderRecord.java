package io.ratelimit.web.reactive;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.web.QuotaStatus;
import io.ratelimit.web.QuotaStatuses;
import io.ratelimit.web.RateLimitHeaders;
import java.util.List;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Records what limits have decided during one exchange, and writes it as headers when the response is committed. */
final class ExchangeHeaderRecord {

    private static final String ATTRIBUTE = ExchangeHeaderRecord.class.getName();

    private final QuotaStatuses statuses = new QuotaStatuses();

    private ExchangeHeaderRecord() {}

    /** Returns the exchange's record, and creates it on first use. */
    static ExchangeHeaderRecord of(ServerWebExchange exchange, RateLimitHeaders headers) {
        return (ExchangeHeaderRecord)
                exchange.getAttributes().computeIfAbsent(ATTRIBUTE, name -> create(exchange, headers));
    }

    private static ExchangeHeaderRecord create(ServerWebExchange exchange, RateLimitHeaders headers) {
        ExchangeHeaderRecord created = new ExchangeHeaderRecord();
        exchange.getResponse()
                .beforeCommit(() -> Mono.fromRunnable(() -> headers.write(
                        created.statuses.all(), exchange.getResponse().getHeaders()::set)));
        return created;
    }

    void addIfAbsent(QuotaStatus status) {
        statuses.addIfAbsent(status);
    }

    void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        statuses.add(charges, decisions);
    }
}
