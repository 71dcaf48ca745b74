package io.afterbay.cli;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.Comparison;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;

/** What a reader must know of the circumstances to judge the figures of a comparison. */
final class CompareEnvironment {
    private final Map<String, String> entries = new LinkedHashMap<>();
    private final MachineLoad load;

    /** Of the circumstances now, before the first run. */
    CompareEnvironment(
            Target target,
            CompareArguments arguments,
            EngineArguments engine,
            CommandLine command,
            MachineLoad load) {
        this.load = load;
        if (arguments.quick) {
            entries.put("quick", "proves that it runs, no figure counts");
        }
        entries.put("date", now());
        entries.put(
                "versions",
                "Afterbay %s (%s), Flink %s, Java %s"
                        .formatted(
                                Versions.afterbay(),
                                Versions.revision(),
                                Versions.flink(),
                                System.getProperty("java.vm.version")));
        entries.put("machine", machine());
        Function<Backend, MemorySplit> split = backend -> split(engine, backend, command);
        entries.put(
                Comparison.LIMIT,
                arguments.cgroupLimit
                        ? "cgroup " + split.apply(arguments.backends.get(0)).total()
                        : "page-cached");
        entries.put("memory", memory(arguments.backends, split));
        entries.put("parallelism", Integer.toString(engine.parallelism));
        entries.put("checkpoint interval", text(engine.checkpointInterval.toMillis()));
        entries.put("warm-up", text(arguments.warmUp().toMillis()));
        entries.put(
                "closed loop",
                String.format(
                        Locale.ROOT,
                        "%,d events, after %,d not counted",
                        target.events(),
                        Phase.closedLoop(target).rampUpEvents()));
        entries.put("open loop", text(arguments.latency().toMillis()));
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

    private static MemorySplit split(EngineArguments engine, Backend backend, CommandLine command) {
        engine.backend = backend;
        return engine.memorySplit(command);
    }

    /** The same split for all backends that keep state off the heap, and another for the rest. */
    private static String memory(List<Backend> backends, Function<Backend, MemorySplit> split) {
        Map<String, List<Backend>> bySplit = new LinkedHashMap<>();
        backends.forEach(
                backend ->
                        bySplit.merge(
                                split.apply(backend).describe(),
                                List.of(backend),
                                CompareEnvironment::both));
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

    private static String text(long millis) {
        return millis == 0 ? "off" : millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }

    /** Completed with the load meanwhile. */
    Map<String, String> entries() {
        Map<String, String> all = new LinkedHashMap<>(entries);
        all.put("load average", load.averages());
        OptionalDouble other = load.otherCores();
        all.put(
                "other work",
                other.isPresent()
                        ? String.format(Locale.ROOT, "%.2f processors", other.getAsDouble())
                        : "unknown");
        return all;
    }
}
