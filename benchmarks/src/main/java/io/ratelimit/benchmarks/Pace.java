package io.ratelimit.benchmarks;

/** How long the turns of a scenario are, and how many rounds there are. */
enum Pace {
    IN_MEMORY(100, 12, 15),
    /** Each contestant warms up alone: in turns, the floor, which has most of them, would be compiled long before the others. */
    IN_REDIS(100, 2, 12),
    /** A call takes as long as hundreds of others. */
    FAR(500, 2, 4),
    /** The same, at a distance at which a turn of {@link #FAR} would be three calls of a thread. */
    FARTHER(1_000, 1, 3),
    /** Leases of many keys grow with what each key takes, and go back in the others' turns. */
    LONG(5_000, 1, 3);

    private static final int FEWEST = 3;

    private static final int TURNS_ALONE = 40;

    private final int turnMillis;

    private final int warmUps;

    private final int rounds;

    Pace(int turnMillis, int warmUps, int rounds) {
        this.turnMillis = turnMillis;
        this.warmUps = warmUps;
        this.rounds = rounds;
    }

    int turnMillis(boolean quick) {
        return quick ? turnMillis / 2 : turnMillis;
    }

    /** The turns that each contestant has alone, one after the other, before the first round. */
    int turnsAlone() {
        return this == IN_REDIS ? TURNS_ALONE : 0;
    }

    /** Rounds that do not count. */
    int warmUps(boolean quick) {
        return quick ? (warmUps + 1) / 2 : warmUps;
    }

    /** Rounds that count. */
    int rounds(boolean quick) {
        return quick ? Math.max(FEWEST, rounds / 3) : rounds;
    }
}
