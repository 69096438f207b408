package io.ratelimit.internal.change;

import io.ratelimit.LimitAttributes;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.OverrideSnapshot.Result;
import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limiter.StoredOverride;
import java.lang.System.Logger.Level;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes an override as text, and reads the script's reply: a line {@code now result version ended}, and for each override a
 * line {@code limit version end attributes}, such as {@code quotes 1795251352713710 0 capacity=50 by=alice}.
 */
public final class OverrideCodec {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String AUTHOR = "by";

    private static final Map<String, Attribute<?>> KNOWN = LimitAttributes.changeable().stream()
            .collect(Collectors.toUnmodifiableMap(Attribute::property, Function.identity()));

    /** Unknown attributes that were logged. */
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /**
     * Writes an override as the text of its line.
     *
     * @param principal the author, if known
     */
    public String encode(RateLimitOverride override, @Nullable String principal) {
        AttributeValues values = LimitAttributes.of(override);
        StringJoiner text = new StringJoiner(" ");
        LimitAttributes.changeable().stream()
                .filter(values::has)
                .forEach(attribute -> add(text, attribute.property(), values.store(attribute)));
        if (principal != null) {
            add(text, AUTHOR, principal);
        }
        return text.toString();
    }

    private static void add(StringJoiner text, String name, String value) {
        text.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8));
    }

    /**
     * Reads a reply.
     *
     * @throws IllegalArgumentException if it is not a reply of the script
     */
    public OverrideSnapshot decode(String reply) {
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
            Map<String, String> texts = texts(text);
            AttributeValues values = AttributeValues.NONE;
            for (Map.Entry<String, String> each : texts.entrySet()) {
                Attribute<?> attribute = KNOWN.get(each.getKey());
                if (attribute != null) {
                    values = values.with(attribute, attribute.parse(each.getValue()), null);
                } else if (!each.getKey().equals(AUTHOR)) {
                    logUnknown(limit, each.getKey());
                }
            }
            Duration duration = end == 0 ? null : Duration.of(end - version, ChronoUnit.MICROS);
            return new StoredOverride(version, end, LimitAttributes.override(values, duration), texts.get(AUTHOR));
        } catch (RuntimeException ex) {
            return new StoredOverride(version, end, null, null);
        }
    }

    private static Map<String, String> texts(String text) {
        Map<String, String> texts = new HashMap<>();
        for (String attribute : text.split(" ", -1)) {
            int equals = attribute.indexOf('=');
            if (equals >= 0) {
                texts.put(
                        attribute.substring(0, equals),
                        URLDecoder.decode(attribute.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
        return texts;
    }

    private void logUnknown(String limit, String name) {
        if (logged.add(name)) {
            logger.log(
                    Level.WARNING,
                    "The override of rate limit ''{0}'' has the attribute ''{1}'', which this version of the starter does"
                            + " not know; ignoring it. Logged once for this attribute.",
                    limit,
                    name);
        }
    }
}
