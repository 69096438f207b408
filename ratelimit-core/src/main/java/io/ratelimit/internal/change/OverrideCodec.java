package io.ratelimit.internal.change;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.OverrideSnapshot.Result;
import io.ratelimit.internal.limiter.StoredOverride;
import java.lang.System.Logger.Level;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes an override as text, and reads the script's reply: a line {@code now result version ended}, and for each override a
 * line {@code limit version end attributes}, such as {@code quotes 1795251352713710 0 capacity=50 by=alice}.
 */
final class OverrideCodec {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String AUTHOR = "by";

    private static final Set<String> KNOWN =
            Set.of("capacity", "rate", "max-wait", "block-for", "enabled", "dry-run", "on-store-failure", AUTHOR);

    /** Unknown attributes that were logged. */
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    String encode(RateLimitOverride override, @Nullable String principal) {
        StringJoiner text = new StringJoiner(" ");
        add(text, "capacity", override.capacity());
        add(text, "rate", override.rate());
        add(text, "max-wait", override.maxWait());
        List<Duration> blockFor = override.blockFor();
        add(
                text,
                "block-for",
                blockFor == null
                        ? null
                        : blockFor.stream().map(Duration::toString).collect(Collectors.joining(",")));
        add(text, "enabled", override.enabled());
        add(text, "dry-run", override.dryRun());
        add(text, "on-store-failure", override.onStoreFailure());
        add(text, AUTHOR, principal);
        return text.toString();
    }

    private static void add(StringJoiner text, String name, @Nullable Object value) {
        if (value != null) {
            text.add(name + "=" + URLEncoder.encode(value.toString(), StandardCharsets.UTF_8));
        }
    }

    /** @throws IllegalArgumentException if it is not a reply of the script */
    OverrideSnapshot decode(String reply) {
        String[] lines = reply.strip().split("\n", -1);
        String[] head = lines[0].split(" ", -1);
        if (head.length < 4) {
            throw new IllegalArgumentException("The reply must begin with four words (was \"" + lines[0] + "\")");
        }
        Map<String, StoredOverride> overrides = new HashMap<>();
        for (int i = 1; i < lines.length; i++) {
            String[] words = lines[i].split(" ", 4);
            long version = Long.parseLong(words[1]);
            long end = Long.parseLong(words[2]);
            overrides.put(words[0], override(words[0], version, end, words.length < 4 ? "" : words[3]));
        }
        return new OverrideSnapshot(
                Long.parseLong(head[0]),
                Result.valueOf(head[1]),
                Long.parseLong(head[2]),
                Integer.parseInt(head[3]),
                overrides);
    }

    private StoredOverride override(String limit, long version, long end, String text) {
        try {
            Map<String, String> attributes = attributes(limit, text);
            RateLimitOverride override = attributes(attributes)
                    .duration(end == 0 ? null : Duration.of(end - version, ChronoUnit.MICROS))
                    .build();
            return new StoredOverride(version, end, override, attributes.get(AUTHOR));
        } catch (RuntimeException ex) {
            return new StoredOverride(version, end, null, null);
        }
    }

    private Map<String, String> attributes(String limit, String text) {
        Map<String, String> attributes = new HashMap<>();
        for (String attribute : text.split(" ", -1)) {
            int equals = attribute.indexOf('=');
            if (equals < 0) {
                continue;
            }
            String name = attribute.substring(0, equals);
            attributes.put(name, URLDecoder.decode(attribute.substring(equals + 1), StandardCharsets.UTF_8));
            if (!KNOWN.contains(name) && logged.add(name)) {
                logger.log(
                        Level.WARNING,
                        "The override of rate limit ''{0}'' has the attribute ''{1}'', which this version of the starter does"
                                + " not know; ignoring it. Logged once for this attribute.",
                        limit,
                        name);
            }
        }
        return attributes;
    }

    private static RateLimitOverride.Builder attributes(Map<String, String> values) {
        RateLimitOverride.Builder override = RateLimitOverride.builder().rate(values.get("rate"));
        if (values.containsKey("capacity")) {
            override.capacity(Long.parseLong(values.get("capacity")));
        }
        if (values.containsKey("max-wait")) {
            override.maxWait(Duration.parse(values.get("max-wait")));
        }
        if (values.containsKey("block-for")) {
            override.blockFor(Arrays.stream(values.get("block-for").split(",", -1))
                    .map(Duration::parse)
                    .toList());
        }
        if (values.containsKey("enabled")) {
            override.enabled(Boolean.valueOf(values.get("enabled")));
        }
        if (values.containsKey("dry-run")) {
            override.dryRun(Boolean.valueOf(values.get("dry-run")));
        }
        if (values.containsKey("on-store-failure")) {
            override.onStoreFailure(OnStoreFailure.valueOf(values.get("on-store-failure")));
        }
        return override;
    }
}
