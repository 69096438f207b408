package io.ratelimit.stomp;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.TestWebSettings;
import java.util.HashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.simp.SimpAttributesContextHolder;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpSessionScope;
import org.springframework.messaging.support.ExecutorSubscribableChannel;
import org.springframework.messaging.support.MessageBuilder;

class StompCallSourceTests {

    private final StompCallSource calls =
            new StompCallSource(RequestCall.Source.NONE, TestWebSettings.of(HeaderFormat.NONE));

    @Test
    void messageAndSessionGoAlongToAnotherThreadAndDoNotStayThere() {
        AtomicReference<Object> seen = new AtomicReference<>();
        Runnable task = carriedFromHandling(() -> {
            assertThat(calls.current())
                    .isInstanceOfSatisfying(
                            StompCall.class,
                            call -> assertThat(call.header("tenant")).isEqualTo("a"));
            seen.set(new SimpSessionScope().get("cart", () -> "items"));
        });
        task.run();
        assertThat(seen).hasValue("items");
        assertThat(calls.current()).isNull();
        assertThat(SimpAttributesContextHolder.getAttributes()).isNull();
    }

    /** Returns the task as carried while a message is handled, as Spring does it. */
    private Runnable carriedFromHandling(Runnable task) {
        AtomicReference<Runnable> carried = new AtomicReference<>();
        MessageHandler handler = message -> {
            SimpAttributesContextHolder.setAttributesFromMessage(message);
            carried.set(calls.carriedBy(task));
            SimpAttributesContextHolder.resetAttributes();
        };
        ExecutorSubscribableChannel channel = new ExecutorSubscribableChannel();
        channel.addInterceptor(calls);
        channel.subscribe(handler);
        channel.send(message());
        return carried.get();
    }

    private static Message<?> message() {
        SimpMessageHeaderAccessor headers = SimpMessageHeaderAccessor.create();
        headers.setSessionId("session");
        headers.setSessionAttributes(new HashMap<>());
        headers.setNativeHeader("tenant", "a");
        return MessageBuilder.createMessage("", headers.getMessageHeaders());
    }
}
