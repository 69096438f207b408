package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what it is told. */
public class RecordingListener implements RateLimitListener {

    private final List<String> limits = new CopyOnWriteArrayList<>();

    private final List<String> outcomes = new CopyOnWriteArrayList<>();

    private final List<Charge> charges = new CopyOnWriteArrayList<>();

    @Override
    public void onLimit(RateLimit limit) {
        limits.add(limit.name());
    }

    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        charges.add(charge);
        outcomes.add(charge.limit().name() + " " + outcome);
    }

    public void forgetDecisions() {
        outcomes.clear();
        charges.clear();
    }

    /** The names of all limits, as the start-up tells them. */
    public List<String> limits() {
        return limits;
    }

    /** {@code quotes ALLOWED}, one for each decision. */
    public List<String> outcomes() {
        return outcomes;
    }

    public List<Charge> charges() {
        return charges;
    }

    /** The keys of all charges so far. */
    public List<String> keys() {
        return charges.stream().map(Charge::key).toList();
    }
}
