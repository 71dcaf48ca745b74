package io.afterbay.spark;

import io.afterbay.spark.QueryProcess.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * What one kill is to hit.
 *
 * @param mode of the query whose batch is looked at
 * @param moment of that batch
 * @param victim which process dies
 */
record Hit(Mode mode, Moment moment, Victim victim) {
    /** A process of an application. */
    enum Victim {
        DRIVER,
        EXECUTOR
    }

    private static final List<Mode> MODES = List.of(Mode.STRICT, Mode.PIPELINED);

    /** Each of them once, in any order; of each four in turn, both victims in both modes. */
    static List<Hit> all(Random random) {
        List<List<Hit>> suits = new ArrayList<>();
        for (Mode mode : MODES) {
            for (Victim victim : Victim.values()) {
                suits.add(inAllMoments(mode, victim, random));
            }
        }
        List<Hit> all = new ArrayList<>();
        for (int i = 0; i < Moment.values().length; i++) {
            Collections.shuffle(suits, random);
            for (List<Hit> suit : suits) {
                all.add(suit.get(i));
            }
        }
        return all;
    }

    private static List<Hit> inAllMoments(Mode mode, Victim victim, Random random) {
        List<Hit> hits = new ArrayList<>();
        Stream.of(Moment.values()).forEach(moment -> hits.add(new Hit(mode, moment, victim)));
        Collections.shuffle(hits, random);
        return hits;
    }

    @Override
    public String toString() {
        return "%s %s: %s".formatted(mode, moment, victim);
    }
}
