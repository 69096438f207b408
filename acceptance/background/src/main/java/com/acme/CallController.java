package com.acme;

import java.util.concurrent.CompletableFuture;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Lets the suite call. */
@RestController
public record CallController(Tasks tasks, Desk desk) {

    @GetMapping("/async")
    public void async() {
        tasks.async();
    }

    @GetMapping("/async-future")
    public CompletableFuture<String> asyncFuture() {
        return tasks.asyncFuture();
    }

    @GetMapping("/gateway")
    public String gateway() {
        return desk.limited("42");
    }

    @GetMapping("/direct")
    public String direct() {
        return desk.direct("42");
    }

    @GetMapping("/polled/{text}")
    public void polled(@PathVariable String text) {
        desk.polled(text);
    }

    @GetMapping("/waiting/{text}")
    public void waiting(@PathVariable String text) {
        desk.waiting(text);
    }
}
