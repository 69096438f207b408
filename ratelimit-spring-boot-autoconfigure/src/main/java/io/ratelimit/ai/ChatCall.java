package io.ratelimit.ai;

import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;

/** Settles one call by what it has used. Synchronized, because a stream may be cancelled while a chunk arrives. */
final class ChatCall {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final RateLimiter.Entry entry;

    private final List<PermitRequest> requested;

    private final Prompt prompt;

    private final ToIntFunction<String> tokens;

    private final Predicate<? super Throwable> refundOn;

    private final StringBuilder text = new StringBuilder();

    /** The tokens that the model has told last. */
    private int used;

    private boolean begun;

    private boolean over;

    ChatCall(
            RateLimiter.Entry entry,
            List<PermitRequest> requested,
            Prompt prompt,
            ToIntFunction<String> tokens,
            Predicate<? super Throwable> refundOn) {
        this.entry = entry;
        this.requested = requested;
        this.prompt = prompt;
        this.tokens = tokens;
        this.refundOn = refundOn;
    }

    Flux<ChatClientResponse> follow(Flux<ChatClientResponse> chunks) {
        return chunks.doOnNext(this::add)
                .doOnComplete(this::completed)
                .doOnError(this::failed)
                .doOnCancel(this::endedEarly);
    }

    /** Notes a response or a chunk of it. */
    synchronized void add(ChatClientResponse chunk) {
        begun = true;
        ChatResponse response = chunk.chatResponse();
        if (response == null) {
            return;
        }
        Usage usage = response.getMetadata().getUsage();
        Integer told = usage == null ? null : usage.getTotalTokens();
        if (told != null && told > 0 && told <= RateLimit.MAX_CAPACITY) {
            used = told;
        }
        for (Generation generation : response.getResults()) {
            text.append(Objects.requireNonNullElse(generation.getOutput().getText(), ""));
        }
    }

    void completed() {
        end(() -> used == 0 ? null : used);
    }

    void failed(Throwable failure) {
        end(() -> refundOn.test(failure) ? Integer.valueOf(0) : usedSoFar());
    }

    private void endedEarly() {
        end(this::usedSoFar);
    }

    private @Nullable Integer usedSoFar() {
        return begun
                ? Math.max(used, tokens.applyAsInt(prompt.getContents()) + tokens.applyAsInt(text.toString()))
                : null;
    }

    /** Only the first end counts. If a function of the application fails, the estimate stays, and the call is as without it. */
    private synchronized void end(Supplier<@Nullable Integer> cost) {
        if (over) {
            return;
        }
        over = true;
        try {
            Integer known = cost.get();
            if (known != null) {
                requested.stream()
                        .filter(PermitRequest::estimate)
                        .forEach(request -> entry.settle(request.limitName(), known));
            }
        } catch (RuntimeException ex) {
            logger.log(Level.WARNING, "The cost of a call of a language model is not known; its estimate stays", ex);
        }
    }
}
