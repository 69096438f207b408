package io.ratelimit.sample;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.ai.RateLimitAdvisor;
import jakarta.validation.constraints.NotBlank;
import java.util.List;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;

/**
 * Limits the questions of each user, and the tokens of their answers. An estimate is charged before, what was used afterwards. Created with
 * the first question: the start-up need not load the classes of a chat client.
 */
@Lazy
@RestController
class AssistantController {

    private static final long ESTIMATE = 500;

    private final ChatClient client;

    AssistantController(RateLimiterRegistry registry) {
        client = ChatClient.builder(new FakeChatModel())
                .defaultAdvisors(RateLimitAdvisor.of(registry, AssistantController::permits))
                .build();
    }

    @PostMapping("/api/questions")
    Answer ask(
            @RequestParam @NotBlank(message = "user must not be blank") String user,
            @RequestParam @NotBlank(message = "question must not be blank") String question) {
        return new Answer(question(user, question).call().content());
    }

    @PostMapping(path = "/api/questions", produces = "text/event-stream")
    Flux<String> stream(
            @RequestParam @NotBlank(message = "user must not be blank") String user,
            @RequestParam @NotBlank(message = "question must not be blank") String question) {
        return question(user, question).stream().content();
    }

    private ChatClient.ChatClientRequestSpec question(String user, String question) {
        return client.prompt(question).advisors(call -> call.param("user", user));
    }

    private static List<PermitRequest> permits(ChatClientRequest request) {
        String user = (String) request.context().get("user");
        return List.of(new PermitRequest("questions", user), new PermitRequest("tokens", user, ESTIMATE).asEstimate());
    }

    record Answer(String text) {}
}
