package io.ratelimit.redis;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.time.zone.ZoneRulesProvider;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The time zone database of a JVM that does not know what clocks in Berlin do, or learns of it while it runs. A JVM uses it with
 * {@code -Djava.time.zone.DefaultZoneRulesProvider}.
 */
public final class OtherTimeZoneDatabase extends ZoneRulesProvider {

    static final String BERLIN = "Europe/Berlin";

    private static final ZoneOffset WINTER = ZoneOffset.ofHours(1);

    private static final ZoneOffset SUMMER = ZoneOffset.ofHours(2);

    private static final ZoneOffsetTransition MARCH =
            ZoneOffsetTransition.of(LocalDateTime.of(2026, 3, 29, 2, 0), WINTER, SUMMER);

    private static final ZoneOffsetTransition OCTOBER =
            ZoneOffsetTransition.of(LocalDateTime.of(2026, 10, 25, 3, 0), SUMMER, WINTER);

    /** Summer time does not end any more. */
    static final ZoneRules ENDLESS_SUMMER = ZoneRules.of(WINTER, WINTER, List.of(), List.of(MARCH), List.of());

    /** The rules of 2026, and of no other year. */
    static final ZoneRules REAL = ZoneRules.of(WINTER, WINTER, List.of(), List.of(MARCH, OCTOBER), List.of());

    private static volatile ZoneRules rules = ENDLESS_SUMMER;

    /** Has the JVM use other rules from now on. */
    static void update(ZoneRules others) {
        rules = others;
    }

    @Override
    protected Set<String> provideZoneIds() {
        return Set.of(BERLIN);
    }

    /** A zone keeps no rules that may be kept. */
    @Override
    protected ZoneRules provideRules(String zoneId, boolean forCaching) {
        return forCaching ? null : rules;
    }

    @Override
    protected NavigableMap<String, ZoneRules> provideVersions(String zoneId) {
        return new TreeMap<>(Map.of("other", rules));
    }
}
