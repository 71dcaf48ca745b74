package io.afterbay.edge.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a job in halves and as a whole, and compares their rows. The whole job reads all sites'
 * files as Flink reads the partitions of a topic: each has its own watermark, and the least one
 * counts.
 */
public final class BothWays {
    private final EdgeProgram program;
    private final Path directory;
    private final Consumer<String> progress;
    private final Control control;

    /**
     * What came out.
     *
     * @param difference null if rows are equal
     * @param halves rows of the job in halves
     * @param sent kind of rows that leave the sites: raw, filtered, projected, partial or final
     * @param rawBytes of the sites' files
     * @param sentBytes of what leaves the sites, watermarks included, as lines of JSON
     */
    public record Outcome(
            @Nullable String difference,
            ResultRows halves,
            int sites,
            String sent,
            long rawBytes,
            long sentRows,
            long sentBytes) {}

    /**
     * @param directory for files that nobody needs afterwards
     * @param progress is told what begins
     * @param control what is made wrong
     */
    public BothWays(
            EdgeProgram program, Path directory, Consumer<String> progress, Control control) {
        this.control = control;
        this.program = program;
        this.directory = directory;
        this.progress = progress;
    }

    /**
     * @param inputs what each site sees, by name
     * @throws CommandFailure if this job cannot be run like that, or a part of it fails
     */
    public Outcome run(ScriptPlan script, Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        RunnableJob job = RunnableJob.of(script);
        PlanJson plan = job.plan();
        PlanTable source = job.source();
        PlanCut cut =
                program.cut(
                        plan.withSource(source.name(), Tables.json(source, directory)),
                        script.local(),
                        directory);
        Halves halves = new Halves(program, cut, directory, PartialsMerge.Order.byWatermark());
        progress.accept("the lower half at %d sites".formatted(inputs.size()));
        Map<String, Path> sent = halves.runSites(inputs);
        for (Path file : sent.values()) {
            control.change(file);
        }
        progress.accept("the upper half on Flink");
        Path upperRows = directory.resolve("halves");
        EmbeddedFlink.run(halves.upper(partitions(cut, sent), upperRows), script.session());
        progress.accept("the whole job on Flink");
        Path wholeRows = directory.resolve("whole");
        EmbeddedFlink.run(whole(plan, source, inputs.values(), wholeRows), script.session());
        ResultRows inHalves = ResultRows.read(job.sink(), upperRows);
        return new Outcome(
                ResultRows.read(job.sink(), wholeRows).difference(inHalves),
                inHalves,
                inputs.size(),
                cut.sent(),
                bytes(inputs.values()),
                halves.rows(),
                bytes(sent.values()));
    }

    private static List<Map<String, Path>> partitions(PlanCut cut, Map<String, Path> sent) {
        return cut.sitesMakeWatermarks()
                ? List.of(sent)
                : sent.entrySet().stream()
                        .map(site -> Map.of(site.getKey(), site.getValue()))
                        .toList();
    }

    private static PlanJson whole(
            PlanJson plan, PlanTable source, Collection<Path> inputs, Path output) {
        List<Map<String, String>> places =
                inputs.stream().map(input -> Tables.json(source, input)).toList();
        return plan.withPartitions(source.name(), places).withSinks(Tables.json(output));
    }

    private static long bytes(Collection<Path> files) throws IOException {
        long bytes = 0;
        for (Path file : files) {
            bytes += Files.size(file);
        }
        return bytes;
    }
}
