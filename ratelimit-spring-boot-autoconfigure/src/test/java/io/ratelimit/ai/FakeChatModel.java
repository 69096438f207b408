package io.ratelimit.ai;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;

/** Answers what a test says. */
final class FakeChatModel implements ChatModel {

    final AtomicInteger calls = new AtomicInteger();

    Supplier<ChatResponse> answer = () -> response("42", 30);

    Flux<ChatResponse> stream = Flux.just(response("4", 0), response("2", 0), response("", 30));

    @Override
    public ChatResponse call(Prompt prompt) {
        calls.incrementAndGet();
        return answer.get();
    }

    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        return Flux.defer(() -> {
            calls.incrementAndGet();
            return stream;
        });
    }

    @Override
    public ChatOptions getOptions() {
        return ChatOptions.builder().model("large").build();
    }

    /** Called by Spring AI 1.1. */
    @Override
    @SuppressWarnings("removal")
    public ChatOptions getDefaultOptions() {
        return getOptions();
    }

    /** @param tokens 0: the model tells no usage */
    static ChatResponse response(String text, int tokens) {
        List<Generation> generations = List.of(new Generation(new AssistantMessage(text)));
        return tokens == 0
                ? new ChatResponse(generations)
                : new ChatResponse(
                        generations,
                        ChatResponseMetadata.builder()
                                .usage(new DefaultUsage(tokens / 3, tokens - tokens / 3))
                                .build());
    }
}
