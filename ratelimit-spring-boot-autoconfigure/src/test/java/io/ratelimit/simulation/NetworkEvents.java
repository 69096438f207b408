package io.ratelimit.simulation;

import io.ratelimit.simulation.SimulatedNetwork.State;
import java.util.Random;

/** Changes of the network of an instance. */
@SuppressWarnings({"EnumOrdinal", "IntLongMath"}) // Small numbers.
final class NetworkEvents {

    private final HistoryContext history;

    private final Random random;

    private final World world;

    NetworkEvents(HistoryContext history) {
        this.history = history;
        this.random = history.random;
        this.world = history.world;
    }

    void change(Member member, State next) {
        history.note("the network of " + member.name() + ": " + next);
        if (next != State.WELL && next != State.LATE) {
            history.visit(Event.OUTAGE);
            history.visit(Event.RESTART_WITH_DATA);
        }
        set(member, next);
    }

    void change() {
        Member member = history.member();
        if (member.instance().network() == null) {
            return;
        }
        State next = member.instance().network().state() != State.WELL && random.nextInt(3) > 0
                ? State.WELL
                : State.values()[random.nextInt(State.values().length)];
        change(member, next);
    }

    /** Changes the network, without a note. */
    void set(Member member, State next) {
        if (member.instance().network() != null) {
            member.networkChanges(next);
            world.networkHasChanged();
        }
    }
}
