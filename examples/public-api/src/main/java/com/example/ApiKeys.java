package com.example;

import java.util.HashMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Knows whose an API key is. Stands for your database. */
@Component
public class ApiKeys {

    private record Customer(String name, String plan) {}

    private final Map<String, Customer> customers = new HashMap<>(Map.of(
            "key-of-alice", new Customer("alice", "free"),
            "second-key-of-alice", new Customer("alice", "free"),
            "key-of-bob", new Customer("bob", "pro")));

    /** Returns null if there is no such key. Such a request is no call of a customer: the status 401. */
    public String customer(String key) {
        Customer customer = customers.get(key);
        return customer == null ? null : customer.name();
    }

    public String plan(String key) {
        Customer customer = customers.get(key);
        return customer == null ? null : customer.plan();
    }
}
