package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import java.util.List;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** What limits have said during one exchange. Written when the response is committed, by the thread that does so. */
final class ExchangeRecord {

    private static final String ATTRIBUTE = ExchangeRecord.class.getName();

    private final Standings standings = new Standings();

    private ExchangeRecord() {}

    /** The exchange's record. */
    static ExchangeRecord of(ServerWebExchange exchange, ResponseFields fields) {
        return (ExchangeRecord) exchange.getAttributes().computeIfAbsent(ATTRIBUTE, name -> create(exchange, fields));
    }

    private static ExchangeRecord create(ServerWebExchange exchange, ResponseFields fields) {
        ExchangeRecord created = new ExchangeRecord();
        exchange.getResponse()
                .beforeCommit(() -> Mono.fromRunnable(() -> fields.write(
                        created.standings.all(), exchange.getResponse().getHeaders()::set)));
        return created;
    }

    void addIfUnknown(Standing standing) {
        standings.addIfUnknown(standing);
    }

    void add(List<Charge> charges, List<RateLimitDecision> decisions) {
        standings.add(charges, decisions);
    }
}
