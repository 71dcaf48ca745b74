package io.afterbay.edge.live;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.Session;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A MiniCluster of Flink's in the place of agents: in a process of its own it runs the job on files
 * of what the sites see, as fast as it can. One cluster for all sites, which is the best case for
 * it: each would need one. The job runs several times in the process; memory is that of the first
 * time, which warms up, and processor time the least of the others.
 */
final class SiteCluster {
    private static final long STEP_MS = 10;
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What Flink's own launcher opens, and a heap that suffices. */
    static final List<String> OPTIONS =
            List.of(
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "--add-opens=java.base/java.util=ALL-UNNAMED",
                    "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED");

    private final RunnableJob job;
    private final Session session;
    private final Collection<Path> inputs;
    private final int runs;
    private final Path directory;

    /**
     * @param session of the job
     * @param runs at least two
     * @param directory for its files
     */
    SiteCluster(
            RunnableJob job, Session session, Collection<Path> inputs, int runs, Path directory) {
        this.job = job;
        this.session = session;
        this.inputs = inputs;
        this.runs = runs;
        this.directory = directory;
    }

    LiveOutcome.MiniCluster run() throws CommandFailure, IOException, InterruptedException {
        Path usage = directory.resolve("usage.json");
        try (SupervisedProgram program =
                SupervisedProgram.once("mini-cluster", command(usage), directory)) {
            while (!program.look()) {
                Thread.sleep(STEP_MS);
            }
        }
        return read(usage);
    }

    /** The rows of the last time. */
    Path results() {
        return results(runs - 1);
    }

    private Path results(int run) {
        return directory.resolve("rows-" + run);
    }

    private List<String> command(Path usage) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(SiteClusterProgram.class.getName());
        command.add(work(usage).toString());
        return command;
    }

    private Path work(Path usage) throws IOException {
        List<String> plans = new ArrayList<>();
        for (int run = 0; run < runs; run++) {
            Path file = directory.resolve("plan-%d.json".formatted(run));
            plans.add(Files.writeString(file, plan(results(run)).toString()).toString());
        }
        Path work = directory.resolve("work.json");
        JSON.writeValue(
                work.toFile(),
                new SiteClusterProgram.Work(
                        session.zone().getId(), session.jars(), plans, usage.toString()));
        return work;
    }

    private PlanJson plan(Path output) {
        List<Map<String, String>> places =
                inputs.stream()
                        .map(input -> Tables.withFormatOf(job.source(), Tables.json(input)))
                        .toList();
        return job.plan()
                .withPartitions(job.source().name(), places)
                .withSinks(Tables.json(output));
    }

    private static LiveOutcome.MiniCluster read(Path file) throws IOException {
        SiteClusterProgram.Usage usage =
                JSON.readValue(file.toFile(), SiteClusterProgram.Usage.class);
        long leastMs =
                usage.cpuMs().stream().skip(1).mapToLong(Long::longValue).min().orElseThrow();
        return new LiveOutcome.MiniCluster(usage.peakBytes(), Duration.ofMillis(leastMs));
    }
}
