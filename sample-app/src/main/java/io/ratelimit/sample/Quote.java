package io.ratelimit.sample;

record Quote(String text, String author) {}
