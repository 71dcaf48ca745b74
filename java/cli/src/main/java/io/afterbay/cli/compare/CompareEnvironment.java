package io.afterbay.cli.compare;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.Comparison;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.process.MachineLoad;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Versions;
import io.afterbay.command.ByteSize;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import picocli.CommandLine;

/** What a reader must know of the circumstances to judge the figures of a comparison. */
final class CompareEnvironment {
    private final Map<String, String> entries = new LinkedHashMap<>();
    private final CompareOptions arguments;
    private final EngineOptions engine;
    private final CommandLine command;
    private final MachineLoad load;

    /** Of the circumstances now, before the first run. */
    CompareEnvironment(
            Target target,
            CompareOptions arguments,
            EngineOptions engine,
            CommandLine command,
            MachineLoad load) {
        this.arguments = arguments;
        this.engine = engine;
        this.command = command;
        this.load = load;
        if (arguments.quick()) {
            entries.put(Comparison.QUICK, "proves that it runs, no figure counts");
        }
        place();
        budget();
        phases(target);
    }

    private void place() {
        entries.put("date", now());
        entries.put("versions", versions());
        entries.put("machine", machine());
    }

    private void budget() {
        ByteSize total = split(arguments.backends().get(0)).total();
        ByteSize limit = arguments.cgroupLimit(total);
        entries.put(Comparison.LIMIT, limit == null ? "page-cached" : "cgroup " + limit);
        entries.put("memory", memory());
        entries.put("parallelism", Integer.toString(engine.parallelism()));
        entries.put("checkpoint interval", text(engine.checkpointInterval()));
    }

    private void phases(Target target) {
        entries.put("warm-up", text(arguments.warmUp()));
        if (target.isForeign()) {
            Duration limit = target.duration();
            entries.put("run", limit.isZero() ? "to its end" : "at most " + text(limit));
        } else {
            loops(target);
        }
    }

    private void loops(Target target) {
        entries.put(
                "closed loop",
                String.format(
                        Locale.ROOT,
                        "%,d events, after %,d not counted",
                        target.events(),
                        Phase.closedLoop(target).rampUpEvents()));
        entries.put("open loop", text(arguments.latency()));
    }

    private static String versions() {
        return "Afterbay %s (%s), Flink %s, Java %s"
                .formatted(
                        Versions.afterbay(),
                        Versions.revision(),
                        Versions.flink(),
                        Versions.java());
    }

    private static String now() {
        return ZonedDateTime.now(ZoneOffset.UTC)
                .format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT));
    }

    private static String machine() {
        return "%s %s, %d processors, %s"
                .formatted(
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        Runtime.getRuntime().availableProcessors(),
                        ProcessFigures.machineMemory());
    }

    private MemorySplit split(Backend backend) {
        return engine.memorySplit(command, backend);
    }

    /** The same split for all backends that keep state off the heap, and another for the rest. */
    private String memory() {
        Map<String, List<Backend>> bySplit = new LinkedHashMap<>();
        for (Backend backend : arguments.backends()) {
            bySplit.merge(split(backend).describe(), List.of(backend), CompareEnvironment::both);
        }
        return bySplit.entrySet().stream()
                .map(entry -> entry.getKey() + " (" + names(entry.getValue()) + ")")
                .collect(joining("; "));
    }

    private static List<Backend> both(List<Backend> a, List<Backend> b) {
        return Stream.concat(a.stream(), b.stream()).toList();
    }

    private static String names(List<Backend> backends) {
        return backends.stream().map(Backend::toString).collect(joining(", "));
    }

    private static String text(Duration time) {
        if (time.isZero()) {
            return "off";
        }
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }

    /**
     * Completed with the load meanwhile.
     *
     * @param otherCores see {@link Rounds#otherCores}
     */
    Map<String, String> entries(OptionalDouble otherCores) {
        Map<String, String> all = new LinkedHashMap<>(entries);
        all.put("load average", load.averages());
        all.put(
                "other work",
                otherCores.isPresent()
                        ? String.format(
                                Locale.ROOT, "at most %.2f processors", otherCores.getAsDouble())
                        : "unknown");
        return all;
    }
}
