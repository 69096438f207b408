package io.ratelimit.sample;

import java.util.List;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;

/** Answers every question with 42, and tells that this took 800 tokens. Needs no provider. */
final class FakeChatModel implements ChatModel {

    @Override
    public ChatResponse call(Prompt prompt) {
        return new ChatResponse(generations("42"), usage());
    }

    /** Tells the usage last. */
    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        return Flux.just(
                new ChatResponse(generations("4")),
                new ChatResponse(generations("2")),
                new ChatResponse(List.of(), usage()));
    }

    private static List<Generation> generations(String text) {
        return List.of(new Generation(new AssistantMessage(text)));
    }

    private static ChatResponseMetadata usage() {
        return ChatResponseMetadata.builder().usage(new DefaultUsage(300, 500)).build();
    }
}
