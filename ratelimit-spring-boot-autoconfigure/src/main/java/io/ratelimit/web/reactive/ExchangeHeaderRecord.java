package io.ratelimit.web.reactive;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.web.QuotaStatus;
import io.ratelimit.web.QuotaStatuses;
import io.ratelimit.web.RateLimitHeaders;
import java.util.List;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** What limits have said during one exchange. Written when the response is committed, by the thread that does so. */
final class ExchangeHeaderRecord {

    private static final String ATTRIBUTE = ExchangeHeaderRecord.class.getName();

    private final QuotaStatuses standings = new QuotaStatuses();

    private ExchangeHeaderRecord() {}

    /** The exchange's record. */
    static ExchangeHeaderRecord of(ServerWebExchange exchange, RateLimitHeaders fields) {
        return (ExchangeHeaderRecord)
                exchange.getAttributes().computeIfAbsent(ATTRIBUTE, name -> create(exchange, fields));
    }

    private static ExchangeHeaderRecord create(ServerWebExchange exchange, RateLimitHeaders fields) {
        ExchangeHeaderRecord created = new ExchangeHeaderRecord();
        exchange.getResponse()
                .beforeCommit(() -> Mono.fromRunnable(() -> fields.write(
                        created.standings.all(), exchange.getResponse().getHeaders()::set)));
        return created;
    }

    void addIfAbsent(QuotaStatus standing) {
        standings.addIfAbsent(standing);
    }

    void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        standings.add(charges, decisions);
    }
}
