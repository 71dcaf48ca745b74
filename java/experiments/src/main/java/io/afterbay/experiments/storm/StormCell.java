package io.afterbay.experiments.storm;

import io.afterbay.experiments.Labelled;
import java.util.List;

/** What there is to cure. */
enum StormCell implements Labelled {
    /** Tasks that are alike, and queues (the paper, section 5.1.2 and figures 3 and 4). */
    QUEUE(
            "queue",
            1,
            List.of(2, 4, 8),
            List.of(30, 50, 70, 78, 90, 95),
            List.of(StormVariant.LOAD_AWARE_64, StormVariant.SHARED)),

    /** One task is slow for a while, and can just do an even share. */
    SLOW("slow", 3, List.of(5), List.of(27), List.of(StormVariant.values())),

    /** One task is slow for a while, and cannot do an even share. */
    OVERLOAD("overload", 3, List.of(5), List.of(36), List.of(StormVariant.values()));

    private final String label;
    private final double slowdown;
    private final List<Integer> tasks;
    private final List<Integer> utilisations;
    private final List<StormVariant> variants;

    StormCell(
            String label,
            double slowdown,
            List<Integer> tasks,
            List<Integer> utilisations,
            List<StormVariant> variants) {
        this.label = label;
        this.slowdown = slowdown;
        this.tasks = tasks;
        this.utilisations = utilisations;
        this.variants = variants;
    }

    @Override
    public String label() {
        return label;
    }

    /** How many times as long the slow task takes; 1 without one. */
    double slowdown() {
        return slowdown;
    }

    /** Usual numbers of tasks of a stage. */
    List<Integer> tasks() {
        return tasks;
    }

    /** Usual loads of tasks that are not slow, in percent. */
    List<Integer> utilisations() {
        return utilisations;
    }

    /** Usual ones. */
    List<StormVariant> variants() {
        return variants;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static StormCell named(String label) {
        return Labelled.named(StormCell.class, label);
    }

    public static final class Converter extends Labelled.Converter<StormCell> {
        public Converter() {
            super(StormCell.class);
        }
    }
}
