package io.afterbay.doctor.report;

import io.afterbay.doctor.analysis.Advice;
import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.Durations;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.LatencyEffect;
import io.afterbay.doctor.analysis.Overlap;
import io.afterbay.doctor.analysis.Recommendation;
import io.afterbay.doctor.analysis.Rhythm;
import io.afterbay.doctor.analysis.SlowWindows;
import io.afterbay.doctor.analysis.StageReport;
import io.afterbay.doctor.analysis.Unit;
import io.afterbay.doctor.analysis.Verdict;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.InstanceName;
import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.doctor.reading.Tally;
import io.afterbay.maintenance.ConcurrencyKnee;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** A report for people. The first line is the verdict. */
public final class DoctorText {
    private static final int STAGES_MAX = 20;
    private static final int JOBS_MAX = 20;
    private static final long MIB = 1 << 20;

    private final PrintWriter out;
    private final Report report;
    private final Diagnosis diagnosis;
    private final Unit unit;

    private DoctorText(PrintWriter out, Report report) {
        this.out = out;
        this.report = report;
        this.diagnosis = report.diagnosis();
        this.unit = diagnosis.unit();
    }

    public static void print(PrintWriter out, Report report) {
        new DoctorText(out, report).print();
        out.flush();
    }

    private void print() {
        out.println(Headline.of(report));
        if (!diagnosis.instances().isEmpty()) {
            out.println();
            printJobs();
            printSubject();
            printFindings();
            printStages();
            printWorst();
        }
        printTally();
        printAdvice();
    }

    private void line(String name, String text, Object... values) {
        out.printf("  %-12s %s%n", name, Words.format(text, values));
    }

    /** The rest is about the first of them. */
    private void printJobs() {
        if (!report.hasSeveralJobs()) {
            return;
        }
        List<List<String>> rows = JobTable.of(report);
        Columns.lines(rows.subList(0, Math.min(rows.size(), 1 + JOBS_MAX)), 1, 7)
                .forEach(out::println);
        int more = report.jobs().size() - JOBS_MAX;
        if (more > 0) {
            out.printf("  and %d more; --json has all%n", more);
        }
        JobReport worst = report.jobs().get(0);
        out.printf(
                "%n  Up to %d of the %d instances of all jobs on this worker compact at once."
                        + " The rest is about %s; for another job, name its logs only.%n%n",
                worst.workerAtOnce(), worst.workerInstances(), worst.origin().label());
    }

    private void printSubject() {
        line(
                "logs",
                "%s of %s, %s%s, %s",
                unit.count(diagnosis.instances().size()),
                Words.count(diagnosis.stages().size(), unit.group()),
                diagnosis.engine().label(),
                diagnosis.versions().isEmpty()
                        ? ""
                        : ", RocksDB " + String.join(", ", diagnosis.versions()),
                diagnosis.hasTime()
                        ? "%s from %s UTC"
                                .formatted(
                                        Words.micros(diagnosis.spanMicros()),
                                        Words.time(diagnosis.fromMicros()))
                        : "of no time that is known");
        line("triggers", "%s", triggers());
        line("flushes", "%s", durations(diagnosis.flushes()));
        line("compactions", "%s", durations(diagnosis.compactions()));
    }

    private String triggers() {
        Map<Integer, Integer> values = diagnosis.triggers().values();
        if (values.size() < 2) {
            return values.isEmpty()
                    ? "not known"
                    : values.keySet().iterator().next() + " files of level 0, all the same";
        }
        String counts =
                values.entrySet().stream()
                        .map(entry -> entry.getKey() + " (" + entry.getValue() + ")")
                        .collect(Collectors.joining(", "));
        return counts + " files of level 0 (column families): they differ";
    }

    private static String durations(Durations durations) {
        return durations.count() == 0
                ? "none"
                : Words.format(
                        "%,d: median %s, P99 %s, longest %s",
                        durations.count(),
                        Words.millis(durations.medianMs()),
                        Words.millis(durations.p99Ms()),
                        Words.millis(durations.longestMs()));
    }

    private void printFindings() {
        printRhythm(diagnosis.rhythm());
        if (diagnosis.verdict() != Verdict.TOO_LITTLE_DATA) {
            line(
                    "alignment",
                    "within %1$ss %2$s, across %1$ss %3$s (0 chance, 1 all together)",
                    unit.group(),
                    score(diagnosis.withinStages()),
                    score(diagnosis.acrossStages()));
        }
        printOverlap(diagnosis.overlap());
        line("stalls", "%s", diagnosis.stalls() == 0 ? "none" : stalls());
        diagnosis.gcPauses().ifPresent(this::printPauses);
        diagnosis.latency().ifPresent(this::printLatency);
        printDelay(report.recommendation());
    }

    private void printOverlap(Overlap overlap) {
        line(
                "at once",
                "up to %s of %s, %s",
                Words.count(overlap.mostCompactions(), "compaction"),
                unit.count(overlap.mostInstances()),
                overlap.mostFlushes() == 1 ? "1 flush" : overlap.mostFlushes() + " flushes");
        line("overlap", "%s", overlap.mostInstances() < 2 ? "no two compactions" : beside(overlap));
        line(
                "",
                "%s of the time of flushes meets a compaction, %s two or more",
                Words.percent(overlap.ofFlushesWithAny()),
                Words.percent(overlap.ofFlushes()));
    }

    private static String beside(Overlap overlap) {
        return Words.format(
                "%.1f others compact beside a compaction, in the mean (by chance %.1f); %s of its time"
                        + " is shared (by chance %s)",
                overlap.meanOthers(),
                overlap.meanOthersByChance(),
                Words.percent(overlap.ofCompactions()),
                Words.percent(overlap.ofCompactionsByChance()));
    }

    private String stalls() {
        return "RocksDB slowed or stopped writers "
                + Words.count(diagnosis.stalls(), "time")
                + " (\"Stalling writes\", \"Stopping writes\")";
    }

    private static String score(OptionalDouble score) {
        return score.isPresent() ? Words.score(score.getAsDouble()) : "-";
    }

    private void printRhythm(Rhythm rhythm) {
        if (rhythm.bursts() == 0) {
            line("bursts", "none: %s do not flush together", unit.many());
            return;
        }
        line(
                "bursts",
                "%,d of flushes, every %s, for %s (P90); a column family compacts at every %s",
                rhythm.bursts(),
                Words.micros(rhythm.periodMicros()),
                Words.micros(rhythm.burstMicros()),
                Words.ordinal(Math.max(1, rhythm.everyNthBurst())));
        line(
                "",
                "compactions run during %,d of them, of two or more %s during %,d",
                rhythm.burstsWithCompactions(),
                unit.many(),
                rhythm.burstsWithSeveral());
        line(
                "",
                "compactions after a burst take up to %s",
                Words.micros(rhythm.longestWaveMicros()));
    }

    private void printLatency(LatencyEffect effect) {
        line(
                "latency",
                "%s%s; longest %s (windows of %s)",
                what(),
                p99(effect),
                Words.millis(effect.longestMs()),
                Words.micros(effect.windowMicros()));
        printSlow(effect.slow());
        line("threads", "%s", threads(effect.threads()));
    }

    private String p99(LatencyEffect effect) {
        return effect.togetherP99Ms() == null
                ? Words.format(
                        "P99 %s; no 2 %s compact at the same moment",
                        Words.millis(effect.otherP99Ms()), unit.many())
                : Words.format(
                        "P99 %s while 2 or more %s compact, else %s",
                        Words.millis(effect.togetherP99Ms()),
                        unit.many(),
                        Words.millis(effect.otherP99Ms()));
    }

    /** Of which latencies the percentiles are; the worst of each window is taken for granted. */
    private String what() {
        String what = report.evidence().latency().map(LatencyLog::what).orElse("");
        return what.equals("worst") ? "" : "of " + what + " of windows: ";
    }

    private void printSlow(SlowWindows slow) {
        if (slow.count() == 0) {
            return;
        }
        line(
                "",
                "%s above %s: %s beside 2 or more compacting %s%s",
                Words.count(slow.count(), "window"),
                Words.millis(slow.limitMs()),
                Words.percent((double) slow.together() / slow.count()),
                unit.many(),
                diagnosis.gcPauses().isEmpty()
                        ? ""
                        : ", %s explained by GC pauses"
                                .formatted(
                                        Words.percent((double) slow.inGcPauses() / slow.count())));
    }

    private void printDelay(Recommendation recommendation) {
        if (diagnosis.rhythm().bursts() > 0 && unit == Unit.INSTANCE) {
            line(
                    "delay",
                    "T = %s, %s; with the burst compactions would be held for %s at most",
                    Words.micros(recommendation.delayMicros()),
                    diagnosis.latency().isPresent()
                            ? "the time in which latency settles after a burst (P90)"
                            : "the length of a burst, since there is no --latency",
                    Words.micros(recommendation.holdMicros()));
        }
    }

    private void printPauses(Durations pauses) {
        boolean isApproximate = report.evidence().gc().map(GcLog::isApproximate).orElse(false);
        line(
                "GC pauses",
                "%s%s",
                durations(pauses),
                isApproximate
                        ? "; when, is told by the last change of --gc-log only: add the decoration time"
                        : "");
    }

    private static String threads(ConcurrencyKnee.Recommendation threads) {
        return switch (threads.verdict()) {
            case KNEE -> "latency has a knee at " + threads.limit() + " compactions at once";
            case NO_KNEE -> "latency has no knee over the compactions at once";
            case TOO_LITTLE_DATA ->
                    "no knee to be found: it takes windows of 50 ms with four levels of concurrency";
        };
    }

    private void printStages() {
        if (diagnosis.stages().size() < 2) {
            return;
        }
        out.println();
        out.printf(
                stageRow('s'),
                unit.group(),
                unit.many(),
                "alignment",
                "flushes",
                "compactions",
                "median",
                "longest");
        diagnosis.stages().stream().limit(STAGES_MAX).forEach(this::printStage);
        if (diagnosis.stages().size() > STAGES_MAX) {
            out.printf("  and %d more; --json has all%n", diagnosis.stages().size() - STAGES_MAX);
        }
    }

    /**
     * @param kind of the figures, or {@code s} for their names
     */
    private String stageRow(char kind) {
        int width = Math.max(9, unit.many().length());
        return "  %%-36s %%%1$d%2$c %%9s %%9%2$c %%11%2$c %%9s %%9s%%n".formatted(width, kind);
    }

    private void printStage(StageReport stage) {
        out.printf(
                stageRow('d'),
                stage.name(),
                stage.instances(),
                score(stage.alignment()),
                stage.flushes().count(),
                stage.compactions().count(),
                Words.millis(stage.compactions().medianMs()),
                Words.millis(stage.compactions().longestMs()));
    }

    private void printWorst() {
        if (diagnosis.worst().isEmpty()) {
            return;
        }
        out.println();
        out.println("  worst moments");
        new WorstTable(diagnosis).lines().forEach(text -> out.println("  " + text));
    }

    private void printTally() {
        Tally tally = report.tally();
        out.println();
        line(
                "read",
                "%s, %,d MiB, %,d lines, %,d events",
                Words.count(tally.files(), "file"),
                tally.bytes() / MIB,
                tally.lines(),
                tally.events());
        long skipped = tally.damagedLines() + tally.cutLines() + tally.foreignLines();
        if (skipped + tally.endsWithoutStart() + tally.startsWithoutEnd() > 0) {
            line(
                    "skipped",
                    "%,d half-written, %,d over-long and %,d foreign lines; %,d ends and %,d starts"
                            + " without the other",
                    tally.damagedLines(),
                    tally.cutLines(),
                    tally.foreignLines(),
                    tally.endsWithoutStart(),
                    tally.startsWithoutEnd());
        }
        long damaged = report.evidence().latency().map(LatencyLog::damagedLines).orElse(0L);
        if (damaged > 0) {
            line("", "%s of --latency that could not be read", Words.count(damaged, "line"));
        }
        List<String> empty = tally.withoutEvents();
        if (!empty.isEmpty()) {
            line(
                    "no events",
                    "in %s, for example %s; %s",
                    Words.count(empty.size(), "file"),
                    empty.get(0),
                    howToLog(InstanceName.of(Path.of(empty.get(0))).engine()));
        }
    }

    private static String howToLog(Engine engine) {
        return switch (engine) {
            case FLINK -> "Flink needs state.backend.rocksdb.log.level: INFO_LEVEL";
            case KAFKA_STREAMS ->
                    "its rocksdb.config.setter must call setInfoLogLevel(InfoLogLevel.INFO_LEVEL);"
                            + " Kafka Streams 4.3 flushes only full memtables, so it may have"
                            + " nothing to log";
            case ROCKSDB -> "RocksDB needs the option info_log_level at INFO_LEVEL";
        };
    }

    private void printAdvice() {
        List<Advice> advice = report.recommendation().advice();
        out.println();
        if (diagnosis.verdict() == Verdict.TOO_LITTLE_DATA && advice.isEmpty()) {
            out.println(Headline.meaning(diagnosis));
            return;
        }
        if (advice.isEmpty()) {
            out.println("Nothing to set.");
            return;
        }
        out.println("What to set, one at a time:");
        for (int i = 0; i < advice.size(); i++) {
            Advice one = advice.get(i);
            out.printf("%n  %d. In %s: %s.%n", i + 1, one.place(), one.reason());
            one.lines().forEach(text -> out.println("       " + text));
        }
    }
}
