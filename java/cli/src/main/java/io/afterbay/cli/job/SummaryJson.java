package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Versions;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.HdrHistogram.Histogram;

/**
 * The report at the end of a run, for programs. Units are last in names; what the system does not
 * tell is null. The fields are described in the README of examples/traffic-jam.
 */
public final class SummaryJson {
    private static final int FORMAT = 1;
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private SummaryJson() {}

    /** Of a run on the embedded engine. */
    public static ObjectNode whole(
            Job job, EngineSettings engine, Outcome outcome, RunFigures run) {
        ObjectNode root = root(job, outcome);
        options(root.putObject("options"), job, engine);
        memory(root.putObject("memory_bytes"), engine.memory());
        figures(root, run);
        latency(root, job, run);
        checkpoints(root.putObject("checkpoints"), run.engine());
        job.figures(root, run);
        return root;
    }

    /** What the summary of every run begins with. */
    public static ObjectNode root(Job job, Outcome outcome) {
        return root(job.name(), outcome);
    }

    public static ObjectNode root(String job, Outcome outcome) {
        ObjectNode root = MAPPER.createObjectNode();
        root.put("format", FORMAT);
        root.put("job", job);
        root.put("outcome", outcome.name());
        root.put("problem", outcome.problem());
        versions(root.putObject("versions"));
        return root;
    }

    public static void write(Path file, ObjectNode root) throws CommandFailure {
        try {
            Files.writeString(file, MAPPER.writeValueAsString(root) + "\n");
        } catch (IOException e) {
            throw new CommandFailure(
                    "--json %s cannot be written: %s; make room or choose another place"
                            .formatted(file, CommandFailure.reason(e)),
                    e);
        }
    }

    private static void versions(ObjectNode node) {
        node.put("afterbay", Versions.afterbay());
        node.put("flink", Versions.flink());
        node.put("java", Versions.java());
        node.put("processors", Runtime.getRuntime().availableProcessors());
        node.put("load_average", ProcessFigures.loadAverage());
    }

    public static void options(ObjectNode node, Job job, EngineSettings engine) {
        node.put("backend", engine.backend().toString());
        node.put("parallelism", engine.parallelism());
        node.put("checkpoint_interval_ms", engine.checkpointIntervalMs());
        job.options(node);
    }

    private static void memory(ObjectNode node, MemorySplit memory) {
        node.put("total", memory.total().bytes());
        node.put("heap", memory.heap().bytes());
        node.put("state", memory.state().bytes());
        node.put("operators", memory.operators().bytes());
        node.put("network", memory.network().bytes());
        node.put("jvm", memory.jvm().bytes());
    }

    private static void figures(ObjectNode node, RunFigures run) {
        node.put("events", run.events());
        node.put("elapsed_s", run.elapsedSeconds());
        node.put("events_per_s", run.eventsPerSecond());
        node.put("cpu_us_per_event", run.cpuMicrosPerEvent());
        put(node, "peak_rss_bytes", run.peakResidentBytes());
        put(node, "written_bytes", run.writtenBytes());
        node.put("collector_ms", run.collectorMillis());
    }

    private static void latency(ObjectNode root, Job job, RunFigures run) {
        root.put("loop", job.isOpenLoop() ? "open" : "closed");
        histogram(root.putObject("latency_ms"), run.latencyMicros());
    }

    static void histogram(ObjectNode node, Histogram micros) {
        node.put("results", micros.getTotalCount());
        percentile(node, "p50", micros, 50);
        percentile(node, "p90", micros, 90);
        percentile(node, "p95", micros, 95);
        percentile(node, "p99", micros, 99);
        percentile(node, "p99_9", micros, 99.9);
        percentile(node, "max", micros, 100);
    }

    private static void percentile(ObjectNode node, String name, Histogram micros, double value) {
        if (micros.getTotalCount() == 0) {
            node.putNull(name);
        } else {
            node.put(name, micros.getValueAtPercentile(value) / 1e3);
        }
    }

    public static void checkpoints(ObjectNode node, EngineFigures engine) {
        node.put("completed", engine.completed());
        node.put("longest_ms", engine.longestMillis());
        put(node, "state_bytes", engine.stateBytes());
        engine.failures().forEach(node.putArray("failures")::add);
    }

    private static void put(ObjectNode node, String name, OptionalLong value) {
        if (value.isPresent()) {
            node.put(name, value.getAsLong());
        } else {
            node.putNull(name);
        }
    }
}
