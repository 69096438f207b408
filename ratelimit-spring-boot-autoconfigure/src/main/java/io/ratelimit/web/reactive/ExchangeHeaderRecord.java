package io.ratelimit.web.reactive;

import io.ratelimit.web.HeaderRecord;
import io.ratelimit.web.RateLimitHeaders;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Records what limits have decided during one exchange, and writes it as headers when the response is committed. */
final class ExchangeHeaderRecord extends HeaderRecord {

    private static final String ATTRIBUTE = ExchangeHeaderRecord.class.getName();

    private ExchangeHeaderRecord() {}

    /** Returns the exchange's record, and creates it on first use. */
    static ExchangeHeaderRecord of(ServerWebExchange exchange, RateLimitHeaders headers) {
        return (ExchangeHeaderRecord)
                exchange.getAttributes().computeIfAbsent(ATTRIBUTE, name -> create(exchange, headers));
    }

    private static ExchangeHeaderRecord create(ServerWebExchange exchange, RateLimitHeaders headers) {
        ExchangeHeaderRecord created = new ExchangeHeaderRecord();
        exchange.getResponse()
                .beforeCommit(() -> Mono.fromRunnable(() -> created.write(headers, exchange.getResponse())));
        return created;
    }

    private void write(RateLimitHeaders headers, ServerHttpResponse response) {
        boolean rejection = HttpStatus.TOO_MANY_REQUESTS.equals(response.getStatusCode());
        HttpHeaders written = response.getHeaders();
        write(headers, rejection && written.getFirst(HttpHeaders.RETRY_AFTER) == null, written::set);
    }
}
