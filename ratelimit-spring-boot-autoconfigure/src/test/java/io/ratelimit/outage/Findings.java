package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What callers saw of a fault.
 *
 * @param notDecided decisions that went by policy
 * @param overAdmissions calls admitted beyond what the rules allow
 * @param overCharges permits that were charged in Redis and that no call had asked for
 * @param recovery from the moment Redis answers again until limits are shared; empty if that was not to be waited for
 * @param missed what was to happen and did not
 */
record Findings(
        String fault,
        long decisions,
        long notDecided,
        long slowestMillis,
        List<Throwable> errors,
        long overAdmissions,
        long overCharges,
        Optional<Duration> recovery,
        List<String> missed) {

    void assertNobodyNoticed() {
        assertThat(missed).as("%s: what did not happen", fault).isEmpty();
        assertThat(errors).as("%s: errors seen by callers", fault).isEmpty();
        assertThat(overAdmissions).as("%s: over-admissions", fault).isZero();
        assertThat(overCharges).as("%s: over-charges", fault).isZero();
    }

    void assertGoneByPolicy() {
        assertNobodyNoticed();
        assertThat(notDecided).as("%s: decisions by policy", fault).isPositive();
    }

    void assertDecidedByRedis() {
        assertNobodyNoticed();
        assertThat(notDecided).as("%s: decisions by policy", fault).isZero();
    }

    static final String HEADER = String.format(
            "%-34s %9s %9s %8s %6s %8s %8s %9s  %s",
            "fault", "decisions", "by policy", "slowest", "errors", "over-adm", "over-chg", "recovery", "missed");

    @Override
    public String toString() {
        return String.format(
                "%-34s %9d %9d %5d ms %6d %8d %8d %9s  %s",
                fault,
                decisions,
                notDecided,
                slowestMillis,
                errors.size(),
                overAdmissions,
                overCharges,
                recovery.map(time -> time.toMillis() + " ms").orElse("never"),
                String.join("; ", missed));
    }
}
