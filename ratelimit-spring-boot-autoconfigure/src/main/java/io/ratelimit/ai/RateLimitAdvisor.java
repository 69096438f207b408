package io.ratelimit.ai;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.reactor.ReactiveCall;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.core.Ordered;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Limits the calls of a {@code ChatClient}. Charges all permits or none before the call, and replaces the
 * {@linkplain PermitRequest#asEstimate() estimates} by the tokens that the model has used.
 *
 * <pre>{@code
 * ChatClient.builder(model).defaultAdvisors(RateLimitAdvisor.of(registry, request -> List.of(
 *         new PermitRequest("requests", user(request)),
 *         new PermitRequest("tokens", user(request), 500).asEstimate())))
 * }</pre>
 *
 * <p>A rejection is a {@link io.ratelimit.RateLimitExceededException}, for a stream an error signal. Each subscription of a stream
 * is a call, and blocks no thread. Permits of concurrency limits are released when the call or the stream ends.
 *
 * <p>The cost is the last {@code Usage} of the response. If the model tells none or fails, the estimates stay. A stream that
 * is cancelled or fails after its first chunk costs the tokens of its prompt and of its text so far, or what the model has told if that
 * is more.
 */
public final class RateLimitAdvisor implements CallAdvisor, StreamAdvisor {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final RateLimiterRegistry registry;

    private final Function<? super ChatClientRequest, List<PermitRequest>> permits;

    private final ToIntFunction<String> tokens;

    private final Predicate<? super Throwable> refundOn;

    private final int order;

    private RateLimitAdvisor(
            RateLimiterRegistry registry,
            Function<? super ChatClientRequest, List<PermitRequest>> permits,
            ToIntFunction<String> tokens,
            Predicate<? super Throwable> refundOn,
            int order) {
        this.registry = registry;
        this.permits = permits;
        this.tokens = tokens;
        this.refundOn = refundOn;
        this.order = order;
    }

    /**
     * Creates an advisor that comes before those of memory, retrieval and tools, so that a rejected call has no effects.
     *
     * @param permits what each call requests, as for {@link RateLimiterRegistry#enterAll}; empty: it is not limited
     */
    public static RateLimitAdvisor of(
            RateLimiterRegistry registry, Function<? super ChatClientRequest, List<PermitRequest>> permits) {
        return new RateLimitAdvisor(
                registry, permits, text -> (text.length() + 3) / 4, failure -> false, Ordered.HIGHEST_PRECEDENCE + 100);
    }

    /** Returns an advisor that counts the tokens of a text in another way. The default is four characters a token, rounded up. */
    public RateLimitAdvisor withTokenCount(ToIntFunction<String> newTokens) {
        return new RateLimitAdvisor(registry, permits, newTokens, refundOn, order);
    }

    /** Returns an advisor that refunds the estimates of calls that fail with one of these exceptions. The default is none. */
    public RateLimitAdvisor withRefundOn(Predicate<? super Throwable> failures) {
        return new RateLimitAdvisor(registry, permits, tokens, failures, order);
    }

    /** Returns an advisor with another place among those of the client. After the one of tools, it limits each of their rounds. */
    public RateLimitAdvisor withOrder(int newOrder) {
        return new RateLimitAdvisor(registry, permits, tokens, refundOn, newOrder);
    }

    @Override
    public String getName() {
        return "rateLimit";
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
        List<PermitRequest> requested = permits.apply(request);
        if (requested.isEmpty()) {
            return chain.nextCall(request);
        }
        RateLimiter.Entry entry = registry.enterAll(requested);
        ChatCall call = new ChatCall(entry, requested, request.prompt());
        try {
            ChatClientResponse response = chain.nextCall(request);
            call.add(response);
            call.completed();
            return response;
        } catch (Throwable failure) {
            call.failed(failure);
            throw failure;
        } finally {
            entry.close();
        }
    }

    @Override
    public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
        return Flux.defer(() -> {
            List<PermitRequest> requested = permits.apply(request);
            if (requested.isEmpty()) {
                return chain.nextStream(request);
            }
            return ReactiveCall.of(
                    registry.enterAllAsync(requested),
                    Schedulers::boundedElastic,
                    false,
                    RateLimiter.Entry::close,
                    (entry, failure) -> entry == null || failure != null
                            ? Mono.error(failure)
                            : new ChatCall(entry, requested, request.prompt()).follow(chain.nextStream(request)));
        });
    }

    /** Settles one call by what it has used. Synchronized, because a stream may be cancelled while a chunk arrives. */
    private final class ChatCall {

        private final RateLimiter.Entry entry;

        private final List<PermitRequest> requested;

        private final Prompt prompt;

        private final StringBuilder text = new StringBuilder();

        /** The tokens that the model has told last. */
        private int used;

        private boolean begun;

        private boolean over;

        ChatCall(RateLimiter.Entry entry, List<PermitRequest> requested, Prompt prompt) {
            this.entry = entry;
            this.requested = requested;
            this.prompt = prompt;
        }

        Flux<ChatClientResponse> follow(Flux<ChatClientResponse> chunks) {
            return chunks.doOnNext(this::add)
                    .doOnComplete(this::completed)
                    .doOnError(this::failed)
                    .doOnCancel(() -> end(this::usedSoFar));
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
                logger.log(
                        Level.WARNING, "The cost of a call of a language model is not known; its estimate stays", ex);
            }
        }
    }
}
