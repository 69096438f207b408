package io.ratelimit.stomp;

import io.ratelimit.expression.CallerFacts;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.WebSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.support.ExecutorChannelInterceptor;

/** Finds the STOMP message that the current thread handles, and otherwise its web request. */
public record StompCallSource(RequestCall.Source requests, WebSettings settings)
        implements RequestCall.Source, ExecutorChannelInterceptor {

    private static final ThreadLocal<@Nullable Handled> handled = new ThreadLocal<>();

    @Override
    public @Nullable RequestCall current() {
        Handled present = handled.get();
        return present == null
                ? requests.current()
                : () -> new StompCaller(present.message().getHeaders(), settings);
    }

    @Override
    public Runnable carriedBy(Runnable task) {
        Handled present = handled.get();
        return present == null
                ? requests.carriedBy(task)
                : () -> {
                    begin(present.message());
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
        begin(message);
        return message;
    }

    @Override
    public void afterMessageHandled(
            Message<?> message, MessageChannel channel, MessageHandler handler, @Nullable Exception failure) {
        end();
    }

    private static void begin(Message<?> message) {
        handled.set(new Handled(message, handled.get()));
    }

    private static void end() {
        Handled present = handled.get();
        if (present == null || present.outer() == null) {
            handled.remove();
        } else {
            handled.set(present.outer());
        }
    }

    /** @param outer the message whose handler has sent this one, if the channel has no threads of its own */
    private record Handled(Message<?> message, @Nullable Handled outer) {}
}
