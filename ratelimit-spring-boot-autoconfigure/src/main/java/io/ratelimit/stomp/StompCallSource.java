package io.ratelimit.stomp;

import io.ratelimit.expression.CallerFacts;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.WebSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.ExecutorChannelInterceptor;

/** Finds the STOMP message that the current thread handles, and otherwise its web request. */
public record StompCallSource(RequestCall.Source requests, WebSettings settings)
        implements RequestCall.Source, ExecutorChannelInterceptor {

    private static final ThreadLocal<@Nullable StompCall> handled = new ThreadLocal<>();

    @Override
    public @Nullable RequestCall current() {
        StompCall present = handled.get();
        return present == null ? requests.current() : present;
    }

    @Override
    public Runnable carriedBy(Runnable task) {
        StompCall present = handled.get();
        return present == null
                ? requests.carriedBy(task)
                : () -> {
                    begin(present.headers());
                    try {
                        task.run();
                    } finally {
                        end();
                    }
                };
    }

    @Override
    public CallerFacts facts() {
        return requests.facts();
    }

    @Override
    public Message<?> beforeHandle(Message<?> message, MessageChannel channel, MessageHandler handler) {
        begin(message.getHeaders());
        return message;
    }

    @Override
    public void afterMessageHandled(
            Message<?> message, MessageChannel channel, MessageHandler handler, @Nullable Exception failure) {
        end();
    }

    private void begin(MessageHeaders headers) {
        handled.set(new StompCall(headers, settings, handled.get()));
    }

    private static void end() {
        StompCall present = handled.get();
        if (present == null || present.outer() == null) {
            handled.remove();
        } else {
            handled.set(present.outer());
        }
    }
}
