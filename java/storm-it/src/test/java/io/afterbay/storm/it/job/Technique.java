package io.afterbay.storm.it.job;

import io.afterbay.storm.StragglerSettings;

/**
 * What the topology is submitted with. A new technique is one more of these. Words are replayed
 * however busy the machine is.
 */
public enum Technique {
    SHARED(StragglerSettings.none().shared(WordTopology.FIRST, WordTopology.SECOND)),
    BALANCED(StragglerSettings.none().balanced(WordTopology.FIRST, WordTopology.SECOND)),
    REPLAYED(StragglerSettings.none().replayed(WordTopology.WORD).replayUpTo(1, 1)),
    /** All at once. */
    ALL(
            StragglerSettings.none()
                    .balanced(WordTopology.FIRST)
                    .shared(WordTopology.SECOND)
                    .replayed(WordTopology.WORD)
                    .replayUpTo(1, 1));

    private final StragglerSettings settings;

    Technique(StragglerSettings settings) {
        this.settings = settings;
    }

    StragglerSettings settings() {
        return settings;
    }
}
