package com.acme;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class AskController {

    private final ChatClient client;

    AskController(ChatClient client) {
        this.client = client;
    }

    @GetMapping("/ask/{user}")
    public String ask(@PathVariable String user) {
        return question(user).call().content();
    }

    @GetMapping("/stream/{user}")
    public String stream(@PathVariable String user) {
        return String.join("", question(user).stream().content().collectList().block());
    }

    private ChatClient.ChatClientRequestSpec question(String user) {
        return client.prompt("What is it?").advisors(call -> call.param("user", user));
    }
}
