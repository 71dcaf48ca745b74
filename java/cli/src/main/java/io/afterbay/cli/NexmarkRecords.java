package io.afterbay.cli;

import io.afterbay.bench.Comparison;
import io.afterbay.bench.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * The results of the experiment that are recorded, and how one more is.
 *
 * @param directory see {@link Result#append}
 * @param revision of the sources that run now
 */
record NexmarkRecords(Path directory, String revision) {
    private static final String EXPERIMENT = "nexmark";

    /**
     * @param date when the comparison began, ISO 8601 in UTC
     * @param loadBefore load average before it
     */
    record Start(String date, double loadBefore) {}

    /** Whether this revision has done it. Of a revision with changes, nothing counts. */
    boolean has(NexmarkCell cell) throws IOException {
        return !revision.endsWith(Versions.DIRTY)
                && Result.read(directory, EXPERIMENT).stream()
                        .map(Result::circumstances)
                        .anyMatch(of -> of.revision().equals(revision) && isOf(of, cell));
    }

    private static boolean isOf(Result.Circumstances of, NexmarkCell cell) {
        return of.cell() == cell.cell() && of.query().equals(cell.query().toString());
    }

    /** Records a comparison that has ended now. */
    void add(NexmarkCell cell, Comparison comparison, String command, Start start)
            throws IOException {
        Result.Circumstances circumstances =
                new Result.Circumstances(
                        EXPERIMENT,
                        cell.cell(),
                        cell.query().toString(),
                        cell.events(),
                        comparison.outputsEqual(),
                        revision,
                        Map.of(
                                "afterbay", Versions.afterbay(),
                                "flink", Versions.flink(),
                                "java", System.getProperty("java.vm.version")),
                        command,
                        start.date(),
                        start.loadBefore(),
                        ProcessFigures.loadAverage());
        Result.append(
                directory,
                comparison.runs().stream().map(run -> new Result(circumstances, run)).toList());
    }

    /** Where the page of a comparison goes; it is not kept with the sources. */
    Path page(NexmarkCell cell) {
        return directory.resolve(
                "%s-%s-%s.html".formatted(EXPERIMENT, cell.cell().jsonName(), cell.query()));
    }
}
