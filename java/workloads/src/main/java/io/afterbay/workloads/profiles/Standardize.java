package io.afterbay.workloads.profiles;

import org.apache.flink.api.common.functions.MapFunction;

/** Titles by a dictionary, in a job. */
public final class Standardize implements MapFunction<Profile, StandardTitle> {
    private static final long serialVersionUID = 1;

    private final int version;

    /**
     * @param version of the dictionary
     * @throws IllegalArgumentException if there is none
     */
    public Standardize(int version) {
        this.version = Dictionary.of(version).version();
    }

    @Override
    public StandardTitle map(Profile profile) {
        return StandardTitle.of(profile, Dictionary.of(version));
    }
}
