package com.example.sessions;

import java.util.SplittableRandom;
import org.apache.flink.connector.datagen.source.GeneratorFunction;

/**
 * Makes click {@code n} from {@code n} and a seed only, so that every run, and every restart, sees
 * the same stream. Half of the clicks come from the few visitors who are there at the moment, and
 * these change as time goes on; the others are spread evenly.
 */
class Clicks implements GeneratorFunction<Long, Click> {
    static final long MILLIS_PER_CLICK = 1;

    private static final int PAGES = 1000;
    private static final int BUSY_VISITORS = 100;
    private static final long CLICKS_PER_CROWD = 20_000;

    private final long visitors;
    private final long seed;

    Clicks(long visitors, long seed) {
        this.visitors = visitors;
        this.seed = seed;
    }

    @Override
    public Click map(Long number) {
        SplittableRandom random = new SplittableRandom(seed * 1_000_003 + number);
        return new Click(
                visitor(number, random), random.nextInt(PAGES), number * MILLIS_PER_CLICK);
    }

    private long visitor(long number, SplittableRandom random) {
        if (random.nextBoolean()) {
            return random.nextLong(visitors);
        }
        long crowd = number / CLICKS_PER_CROWD * BUSY_VISITORS;
        return (crowd + random.nextInt(BUSY_VISITORS)) % visitors;
    }
}
