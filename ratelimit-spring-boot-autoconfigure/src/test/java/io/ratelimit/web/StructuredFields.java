package io.ratelimit.web;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads lists of strings and integers with parameters, by the letter of the algorithms in RFC 9651, section 4.2. What is
 * none, and what our fields have no use for, is an error.
 */
final class StructuredFields {

    private final String text;

    private int at;

    private StructuredFields(String text) {
        this.text = text;
    }

    /** A member of a list. */
    record Item(Object value, Map<String, Object> parameters) {

        String string() {
            return (String) value;
        }

        long integer(String parameter) {
            return (Long) parameters.get(parameter);
        }
    }

    static List<Item> list(String text) {
        return new StructuredFields(text).list();
    }

    private List<Item> list() {
        List<Item> items = new ArrayList<>();
        skip(" ");
        while (true) {
            items.add(item());
            skip(" \t");
            if (atEnd()) {
                return items;
            }
            expect(',');
            skip(" \t");
            if (atEnd()) {
                throw error("a comma at the end");
            }
        }
    }

    private Item item() {
        Object value = bareItem();
        Map<String, Object> parameters = new LinkedHashMap<>();
        while (!atEnd() && peek() == ';') {
            at++;
            skip(" ");
            String key = key();
            Object parameter = true;
            if (!atEnd() && peek() == '=') {
                at++;
                parameter = bareItem();
            }
            if (parameters.put(key, parameter) != null) {
                throw error("the parameter " + key + " twice");
            }
        }
        return new Item(value, parameters);
    }

    private Object bareItem() {
        if (atEnd()) {
            throw error("no item");
        }
        return peek() == '"' ? string() : integer();
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (true) {
            char next = next();
            if (next == '"') {
                return string.toString();
            }
            if (next == '\\') {
                next = next();
                if (next != '"' && next != '\\') {
                    throw error("an escape of " + next);
                }
            } else if (next < 0x20 || next > 0x7e) {
                throw error("a character that is not printable");
            }
            string.append(next);
        }
    }

    private long integer() {
        int start = at;
        if (peek() == '-') {
            at++;
        }
        int digits = at;
        while (!atEnd() && peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (at == digits || at - digits > 15) {
            throw error("no integer");
        }
        if (!atEnd() && peek() == '.') {
            throw error("a decimal");
        }
        return Long.parseLong(text.substring(start, at));
    }

    private String key() {
        int start = at;
        while (!atEnd() && (isLower(peek()) || (at > start && "0123456789_-.".indexOf(peek()) >= 0))) {
            at++;
        }
        if (at == start) {
            throw error("no key");
        }
        return text.substring(start, at);
    }

    private static boolean isLower(char character) {
        return (character >= 'a' && character <= 'z') || character == '*';
    }

    private void skip(String characters) {
        while (!atEnd() && characters.indexOf(peek()) >= 0) {
            at++;
        }
    }

    private void expect(char character) {
        if (next() != character) {
            throw error("no " + character);
        }
    }

    private char next() {
        if (atEnd()) {
            throw error("an early end");
        }
        return text.charAt(at++);
    }

    private char peek() {
        return text.charAt(at);
    }

    private boolean atEnd() {
        return at == text.length();
    }

    private IllegalArgumentException error(String what) {
        return new IllegalArgumentException("There is " + what + " before " + at + " in: " + text);
    }
}
