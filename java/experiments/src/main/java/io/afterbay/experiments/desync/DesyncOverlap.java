package io.afterbay.experiments.desync;

import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.LatencyEffect;
import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.doctor.reading.LogReading;
import io.afterbay.doctor.report.DoctorPage;
import io.afterbay.doctor.report.Report;
import io.afterbay.maintenance.ConcurrencyKnee;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What RocksDB's logs of an open loop say, as {@code afterbay doctor} reads them. */
final class DesyncOverlap {
    /** The doctor wants to see how latency changes. */
    private static final int WINDOWS_MIN = 2;

    private DesyncOverlap() {}

    /** Where the timeline of a run is, in its working directory. */
    static Path latencyFile(Path directory) {
        return directory.resolve("latency.csv");
    }

    /**
     * Reads all logs there.
     *
     * @param directory with the {@link #latencyFile}
     * @param windows in that file
     * @param keep where to leave logs, latencies and the doctor's page; null for nowhere
     */
    static DesyncTrial.Overlap of(Path directory, Path logs, int windows, @Nullable String keep)
            throws IOException {
        Path file = latencyFile(directory);
        LatencyLog latency = windows < WINDOWS_MIN ? null : LatencyLog.read(file);
        LogReading.Logs read = LogReading.read(List.of(logs), line -> {});
        Diagnosis found = Diagnosis.of(read.instances(), latency);
        if (keep != null) {
            Path folder = Path.of(keep);
            copy(logs, Files.createDirectories(folder.resolve("logs")));
            Files.copy(file, folder.resolve(file.getFileName()));
            Report report = Report.of(found, read.tally(), latency);
            Files.writeString(folder.resolve("doctor.html"), DoctorPage.of(report));
        }
        return of(found);
    }

    private static DesyncTrial.Overlap of(Diagnosis found) {
        return new DesyncTrial.Overlap(
                found.verdict().name(),
                orNull(found.withinStages()),
                found.instances().size(),
                found.flushes().count(),
                forCheckpoints(found),
                found.compactions().count(),
                found.rhythm().longestWaveMicros() / 1e3,
                found.mostInstancesPerSlot(),
                found.overlap().mostInstances(),
                found.overlap().ofFlushesWithAny(),
                found.overlap().mostFlushes(),
                found.rhythm().burstMicros() / 1e3,
                kneeThreads(found),
                found.stalls());
    }

    private static @Nullable Double forCheckpoints(Diagnosis found) {
        long asked =
                found.instances().stream()
                        .flatMap(instance -> instance.columnFamilies().stream())
                        .mapToLong(family -> family.checkpointFlushes().size())
                        .sum();
        return found.flushes().count() == 0 ? null : (double) asked / found.flushes().count();
    }

    private static @Nullable Integer kneeThreads(Diagnosis found) {
        return found.latency()
                .map(LatencyEffect::threads)
                .filter(threads -> threads.verdict() == ConcurrencyKnee.Verdict.KNEE)
                .map(ConcurrencyKnee.Recommendation::limit)
                .orElse(null);
    }

    private static @Nullable Double orNull(OptionalDouble value) {
        return value.isPresent() ? value.getAsDouble() : null;
    }

    /** Logs only: stores may be beside them. */
    private static void copy(Path from, Path to) throws IOException {
        List<Path> logs;
        try (Stream<Path> files = Files.walk(from)) {
            logs = files.filter(DesyncOverlap::isLog).toList();
        }
        for (Path log : logs) {
            Path copy = to.resolve(from.relativize(log).toString());
            Files.createDirectories(Objects.requireNonNull(copy.getParent(), "in a folder"));
            Files.copy(log, copy);
        }
    }

    private static boolean isLog(Path file) {
        return Files.isRegularFile(file)
                && String.valueOf(file.getFileName()).matches("(.*_)?LOG(\\.old\\.\\d+)?");
    }

    /** What is in a folder. */
    static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
