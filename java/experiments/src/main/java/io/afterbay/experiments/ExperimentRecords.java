package io.afterbay.experiments;

import io.afterbay.bench.Comparison;
import io.afterbay.bench.Result;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Versions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * The results of an experiment that are recorded, and how one more is.
 *
 * @param experiment its name
 * @param directory see {@link Result#append}
 * @param revision of the sources that run now
 */
public record ExperimentRecords(String experiment, Path directory, String revision) {

    /**
     * @param date when the comparison began, ISO 8601 in UTC
     * @param loadBefore load average before it
     */
    public record Start(String date, double loadBefore) {}

    /** Whether this revision has done it. Of a revision with changes, nothing counts. */
    public boolean has(ExperimentCell cell) throws IOException {
        return !revision.endsWith(Versions.DIRTY)
                && Result.read(directory, experiment).stream()
                        .map(Result::circumstances)
                        .anyMatch(of -> of.revision().equals(revision) && isOf(of, cell));
    }

    private static boolean isOf(Result.Circumstances of, ExperimentCell cell) {
        return of.cell() == cell.cell() && of.query().equals(cell.query());
    }

    /** Records a comparison that has ended now. */
    public void add(ExperimentCell cell, Comparison comparison, String command, Start start)
            throws IOException {
        Result.Circumstances circumstances =
                new Result.Circumstances(
                        experiment,
                        cell.cell(),
                        cell.query(),
                        cell.events(),
                        comparison.outputsEqual(),
                        revision,
                        Map.of(
                                "afterbay", Versions.afterbay(),
                                "flink", Versions.flink(),
                                "java", Versions.java()),
                        command,
                        start.date(),
                        start.loadBefore(),
                        ProcessFigures.loadAverage());
        Result.append(
                directory,
                comparison.runs().stream().map(run -> new Result(circumstances, run)).toList());
    }

    /** Where the page of a comparison goes; it is not kept with the sources. */
    Path page(ExperimentCell cell) {
        return directory.resolve(
                "%s-%s-%s.html"
                        .formatted(
                                experiment,
                                cell.cell().jsonName(),
                                cell.query().replaceAll("[^A-Za-z0-9.-]", "-")));
    }
}
