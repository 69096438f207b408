package com.example;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

@Component
public class Budgets {

    /** Of the last chunk of an answer. In a text of the model, the quotes would be escaped. */
    private static final Pattern USAGE = Pattern.compile("(?<!\\\\)\"total_tokens\" *: *(\\d+)");

    /** Stands for your database. */
    private final Map<String, String> users = new HashMap<>(Map.of("Bearer alices-key", "alice", "Bearer bobs-key", "bob"));

    public String user(String authorization) {
        return users.get(authorization);
    }

    /** Null for another model: a name that a user makes up has no budget. */
    public String userAndModel(String authorization, String model) {
        return model.matches("small|large") ? user(authorization) + ":" + model : null;
    }

    /** A token for each four characters, and as many as the answer may have. */
    public long estimate(Map<String, Object> request) {
        Number most = (Number) request.getOrDefault("max_tokens", 500);
        return String.valueOf(request.get("messages")).length() / 4 + most.longValue();
    }

    /** What the provider tells. If the user leaves before, a token for each chunk so far. */
    @Bean
    static Collector<String, long[], Long> usedTokens() {
        return Collector.of(() -> new long[1], Budgets::count, (used, others) -> used, used -> used[0]);
    }

    private static void count(long[] used, String chunk) {
        Matcher usage = USAGE.matcher(chunk);
        used[0] = usage.find() ? Long.parseLong(usage.group(1)) : used[0] + (chunk.equals("[DONE]") ? 0 : 1);
    }
}
