package io.afterbay.spark.model;

/**
 * What may still go wrong.
 *
 * @param crashes of the driver or an executor
 * @param silences of the storage, each in one write, which is begun a second time then
 */
record Accidents(int crashes, int silences) {
    static final Accidents NONE = new Accidents(0, 0);

    Accidents afterCrashes(int spent) {
        return new Accidents(crashes - spent, silences);
    }

    Accidents afterSilence() {
        return new Accidents(crashes, silences - 1);
    }
}
