package io.ratelimit.sample;

record Report(String tenant, int pages) {}
