package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.exceptions.ApplicationErrorException;
import io.rsocket.exceptions.InvalidException;
import io.rsocket.exceptions.RejectedException;
import io.rsocket.metadata.TaggingMetadataCodec;
import io.rsocket.metadata.WellKnownMimeType;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.util.ByteBufPayload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Requests of RSocket, over TCP. */
class RSocketTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Application APPLICATION = Application.start("rsocket");

    private static final RSocket SOCKET = RSocketConnector.create()
            .metadataMimeType(WellKnownMimeType.MESSAGE_RSOCKET_ROUTING.getString())
            .dataMimeType(WellKnownMimeType.TEXT_PLAIN.getString())
            .connect(TcpClientTransport.create("127.0.0.1", APPLICATION.port()))
            .block(PATIENCE);

    @AfterAll
    static void end() {
        SOCKET.dispose();
    }

    @Test
    void aRejectedRequestMayBeSentAgain() {
        String user = UUID.randomUUID().toString();
        assertThat(ask("quote", user)).isEqualTo("42");
        RejectedException rejection = catchThrowableOfType(RejectedException.class, () -> ask("quote", user));
        assertThat(rejection).hasMessageStartingWith("Rate limit 'quotes' exceeded");
        assertThat(APPLICATION.log()).doesNotContain("Rate limit 'quotes' exceeded", "RateLimitExceededException");
    }

    @Test
    void theTextOfARejectionHasTheTimeToWait() {
        String user = UUID.randomUUID().toString();
        ask("quote", user);
        assertThat(catchThrowableOfType(RejectedException.class, () -> ask("quote", user)))
                .hasMessageMatching("Rate limit 'quotes' exceeded; retry after 86[34]\\d\\d s");
    }

    @Test
    void aRequestWithoutItsKeyIsInvalidAndLogsOneWarning() {
        for (int request = 1; request <= 3; request++) {
            assertThat(catchThrowableOfType(InvalidException.class, () -> ask("quote", "")))
                    .isNotNull();
        }
        assertThat(lines("WARN", "'quotes'")).hasSize(1);
    }

    @Test
    void aRequestWhoseExpressionFailsIsAnErrorOfTheApplicationAndLogsOneError() {
        for (int request = 1; request <= 3; request++) {
            assertThat(catchThrowableOfType(ApplicationErrorException.class, () -> ask("broken", "")))
                    .hasMessage("The server cannot evaluate a rate limit of the request");
        }
        assertThat(lines("ERROR", "QuoteController.broken")).hasSize(1);
    }

    @Test
    void aClientThatSendsWithoutAResponseIsToldNothing() {
        for (int request = 1; request <= 3; request++) {
            SOCKET.fireAndForget(payload("send", "a text")).block(PATIENCE);
        }
        Await.until("the first", () -> ask("sent", "").equals("1"));
        assertThat(ask("sent", "")).isEqualTo("1");
        assertThat(APPLICATION.log()).doesNotContain("Rate limit 'sends' exceeded");
    }

    @Test
    void aStreamHoldsItsPermitUntilItEndsOrIsCancelled() throws InterruptedException {
        assertThat(Await.value("the permit", () -> quotes(3))).hasSize(3);
        assertThat(Await.value("the permit of a stream that has ended", () -> quotes(3)))
                .hasSize(3);
        CountDownLatch begun = new CountDownLatch(1);
        Disposable endless = SOCKET.requestStream(payload("quotes", String.valueOf(Integer.MAX_VALUE)))
                .doOnNext(Payload::release)
                .subscribe(quote -> begun.countDown());
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(quotes(3)).isNull();
        endless.dispose();
        assertThat(Await.value("the permit of the cancelled stream", () -> quotes(3)))
                .hasSize(3);
    }

    /** Null if the request is rejected. */
    private static List<String> quotes(int count) {
        try {
            return SOCKET.requestStream(payload("quotes", String.valueOf(count)))
                    .map(RSocketTests::text)
                    .collectList()
                    .block(PATIENCE);
        } catch (RejectedException ex) {
            return null;
        }
    }

    private static String ask(String route, String data) {
        return SOCKET.requestResponse(payload(route, data))
                .map(RSocketTests::text)
                .block(PATIENCE);
    }

    private static String text(Payload payload) {
        String text = payload.getDataUtf8();
        payload.release();
        return text;
    }

    private static Payload payload(String route, String data) {
        return ByteBufPayload.create(
                Unpooled.copiedBuffer(data, StandardCharsets.UTF_8),
                TaggingMetadataCodec.createRoutingMetadata(ByteBufAllocator.DEFAULT, List.of(route))
                        .getContent());
    }

    private static List<String> lines(String level, String text) {
        return APPLICATION
                .log()
                .lines()
                .filter(line -> line.contains(" " + level + " ") && line.contains(text))
                .toList();
    }
}
