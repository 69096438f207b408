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
public final class StompCallSource implements RequestCall.Source, ExecutorChannelInterceptor {

    private static final ThreadLocal<@Nullable Message<?>> handled = new ThreadLocal<>();

    private final RequestCall.Source requests;

    private final WebSettings settings;

    public StompCallSource(RequestCall.Source requests, WebSettings settings) {
        this.requests = requests;
        this.settings = settings;
    }

    @Override
    public @Nullable RequestCall current() {
        Message<?> message = handled.get();
        return message == null ? requests.current() : new StompCall(new StompCaller(message.getHeaders(), settings));
    }

    @Override
    public Runnable carriedBy(Runnable task) {
        Message<?> message = handled.get();
        return message == null
                ? requests.carriedBy(task)
                : () -> {
                    Message<?> own = handled.get();
                    handle(message);
                    try {
                        task.run();
                    } finally {
                        handle(own);
                    }
                };
    }

    @Override
    public CallerFacts facts() {
        return requests.facts();
    }

    @Override
    public Message<?> beforeHandle(Message<?> message, MessageChannel channel, MessageHandler handler) {
        handle(message);
        return message;
    }

    @Override
    public void afterMessageHandled(
            Message<?> message, MessageChannel channel, MessageHandler handler, @Nullable Exception failure) {
        handled.remove();
    }

    private void handle(@Nullable Message<?> message) {
        if (message == null) {
            handled.remove();
        } else {
            handled.set(message);
        }
    }
}
