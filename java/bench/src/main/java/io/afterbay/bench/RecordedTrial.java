package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** One line of the results of an experiment: a run, and all that is needed to repeat it. */
public record RecordedTrial<R extends Trial>(Provenance provenance, R run) {

    /**
     * What the runs of one round have in common, and those of no other: the round of one call is
     * not that of another one with the same number.
     */
    public record Round(String revision, String command, String date, int pair) {}

    /** The round that the run was part of; its runs met the machine in the same state. */
    public Round round() {
        return new Round(
                provenance.revision(), provenance.command(), provenance.date(), run.pair());
    }

    /** Appends to the experiment's file in a directory, which is made if need be. */
    public static void append(Path directory, List<? extends RecordedTrial<?>> trials)
            throws IOException {
        Files.createDirectories(directory);
        for (RecordedTrial<?> trial : trials) {
            ResultFile.of(directory, trial.provenance().experiment())
                    .append(trial.provenance(), trial.run());
        }
    }

    /** All of an experiment, in their order; none before its first. */
    public static <R extends Trial> List<RecordedTrial<R>> read(
            Path directory, String experiment, Class<R> type) throws IOException {
        return ResultFile.of(directory, experiment)
                .read(line -> new RecordedTrial<>(line.as(Provenance.class), line.as(type)));
    }

    /** All of them as one array, a line for each. */
    public static String json(List<? extends RecordedTrial<?>> trials) {
        return trials.stream()
                .map(trial -> ResultFile.merged(trial.provenance(), trial.run()))
                .map(ComparisonJson::line)
                .collect(joining(",\n", "[\n", "\n]\n"));
    }
}
