package io.afterbay.storm;

/** A machine whose processors have time, whatever else runs on this one. */
public enum CalmMachine implements ProcessorLoad {
    SAYS_SO;

    @Override
    public double share() {
        return 0.1;
    }

    public static StragglerSettings with(StragglerSettings settings) {
        return settings.processors(SAYS_SO);
    }
}
