package io.afterbay.storm.it.job;

import io.afterbay.storm.StragglerSettings;

/** What the topology is submitted with. A new technique is one more of these. */
public enum Technique {
    SHARED(StragglerSettings.none().shared(WordTopology.FIRST, WordTopology.SECOND)),
    BALANCED(StragglerSettings.none().balanced(WordTopology.FIRST, WordTopology.SECOND)),
    REPLAYED(StragglerSettings.none().replayed(WordTopology.WORD)),
    /** All at once. */
    ALL(
            StragglerSettings.none()
                    .balanced(WordTopology.FIRST)
                    .shared(WordTopology.SECOND)
                    .replayed(WordTopology.WORD));

    private final StragglerSettings settings;

    Technique(StragglerSettings settings) {
        this.settings = settings;
    }

    StragglerSettings settings() {
        return settings;
    }
}
