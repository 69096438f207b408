package com.acme;

import java.util.List;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;

/** Uses 10 tokens for each call. A stream has one chunk. */
class FakeModel implements ChatModel {

    @Override
    public ChatResponse call(Prompt prompt) {
        return new ChatResponse(
                List.of(new Generation(new AssistantMessage("42"))),
                ChatResponseMetadata.builder().usage(new DefaultUsage(6, 4)).build());
    }

    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        return Flux.just(call(prompt));
    }

    /** Of Spring AI 2.0. */
    public ChatOptions getOptions() {
        return ChatOptions.builder().model("fake").build();
    }

    /** Of Spring AI 1.1. */
    public ChatOptions getDefaultOptions() {
        return getOptions();
    }
}
