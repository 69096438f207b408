package com.example;

import java.util.HashMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Knows whose an API key is. Stands for your database. */
@Component
public class ApiKeys {

    private final Map<String, String> callers = new HashMap<>(Map.of("alices-key", "alice", "bobs-key", "bob"));

    /** Returns null if there is no such key. */
    public String caller(String key) {
        return callers.get(key);
    }
}
