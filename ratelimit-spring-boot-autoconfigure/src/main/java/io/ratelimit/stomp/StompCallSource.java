package io.ratelimit.stomp;

import io.ratelimit.expression.CallerFacts;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.WebSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.simp.SimpAttributes;
import org.springframework.messaging.simp.SimpAttributesContextHolder;
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

    /** Spring, too, finds the session on the other thread, such as for beans in its scope. */
    @Override
    public Runnable carriedBy(Runnable task) {
        Runnable inSession = RequestCall.Source.<@Nullable SimpAttributes>carrying(
                SimpAttributesContextHolder.getAttributes(),
                SimpAttributesContextHolder::getAttributes,
                SimpAttributesContextHolder::setAttributes,
                task);
        return RequestCall.Source.<@Nullable StompCall>carrying(
                handled.get(), handled::get, StompCallSource::handle, inSession);
    }

    @Override
    public CallerFacts facts() {
        return requests.facts();
    }

    @Override
    public Message<?> beforeHandle(Message<?> message, MessageChannel channel, MessageHandler handler) {
        handle(new StompCall(message.getHeaders(), settings, handled.get()));
        return message;
    }

    @Override
    public void afterMessageHandled(
            Message<?> message, MessageChannel channel, MessageHandler handler, @Nullable Exception failure) {
        StompCall present = handled.get();
        handle(present == null ? null : present.outer());
    }

    private static void handle(@Nullable StompCall call) {
        if (call == null) {
            handled.remove();
        } else {
            handled.set(call);
        }
    }
}
