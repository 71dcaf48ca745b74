package io.afterbay.storm.workloads;

import io.afterbay.storm.StragglerSettings;
import java.util.Arrays;
import java.util.Locale;

/** What is done about slow tasks. */
enum Technique {
    /** Storm as it is: load-aware shuffle grouping. */
    NONE,
    /** The tasks of each bolt in one worker have one queue. */
    SHARED,
    /** Senders give each task as much as it can take. */
    BALANCED,
    /** Late words are emitted a second time. */
    REPLAY;

    /**
     * @throws IllegalArgumentException saying which there are
     */
    static Technique named(String name) {
        return Arrays.stream(values())
                .filter(one -> one.toString().equals(name))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "technique '%s' is none of %s"
                                                .formatted(name, Arrays.toString(values()))));
    }

    StragglerSettings settings(String spout, String... bolts) {
        StragglerSettings none = StragglerSettings.none();
        return switch (this) {
            case NONE -> none;
            case SHARED -> none.shared(bolts);
            case BALANCED -> none.balanced(bolts);
            case REPLAY -> none.replayed(spout);
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
