package io.afterbay.cli.doctor.report;

import io.afterbay.cli.doctor.analysis.Advice;
import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.analysis.Durations;
import io.afterbay.cli.doctor.analysis.LatencyEffect;
import io.afterbay.cli.doctor.analysis.Overlap;
import io.afterbay.cli.doctor.analysis.Rhythm;
import io.afterbay.cli.doctor.analysis.StageReport;
import io.afterbay.cli.doctor.analysis.Verdict;
import io.afterbay.cli.doctor.analysis.WorstMoment;
import io.afterbay.cli.doctor.reading.Tally;
import io.afterbay.maintenance.ConcurrencyKnee;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** A report for people. The first line is the verdict. */
public final class DoctorText {
    private static final int STAGES_MAX = 20;
    private static final long MIB = 1 << 20;

    private final PrintWriter out;
    private final Report report;
    private final Diagnosis diagnosis;

    private DoctorText(PrintWriter out, Report report) {
        this.out = out;
        this.report = report;
        this.diagnosis = report.diagnosis();
    }

    public static void print(PrintWriter out, Report report) {
        new DoctorText(out, report).print();
        out.flush();
    }

    private void print() {
        out.println(Headline.of(diagnosis));
        out.println();
        if (!diagnosis.instances().isEmpty()) {
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

    private void printSubject() {
        line(
                "logs",
                "%s of %s, %s%s, %s from %s UTC",
                Words.count(diagnosis.instances().size(), "instance"),
                Words.count(diagnosis.stages().size(), "stage"),
                diagnosis.engine().label(),
                diagnosis.versions().isEmpty()
                        ? ""
                        : ", RocksDB " + String.join(" and ", diagnosis.versions()),
                Words.micros(diagnosis.spanMicros()),
                Words.time(diagnosis.fromMicros()));
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
                    "within stages %s, across stages %s (0 chance, 1 all together)",
                    score(diagnosis.withinStages()),
                    score(diagnosis.acrossStages()));
        }
        printOverlap(diagnosis.overlap());
        line("stalls", "%s", diagnosis.stalls() == 0 ? "none" : stalls());
        diagnosis.latency().ifPresent(this::printLatency);
    }

    private void printOverlap(Overlap overlap) {
        line(
                "at once",
                "up to %s of %s, %s",
                Words.count(overlap.mostCompactions(), "compaction"),
                Words.count(overlap.mostInstances(), "instance"),
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
            line("bursts", "none: instances do not flush together");
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
                "compactions run during %,d of them, of two or more instances during %,d",
                rhythm.burstsWithCompactions(),
                rhythm.burstsWithSeveral());
        line(
                "",
                "compactions after a burst take up to %s",
                Words.micros(rhythm.longestWaveMicros()));
    }

    private void printLatency(LatencyEffect effect) {
        line(
                "latency",
                "P99 %s while 2 or more instances compact, else %s; longest %s (windows of %s)",
                Words.millis(effect.togetherP99Ms()),
                Words.millis(effect.otherP99Ms()),
                Words.millis(effect.longestMs()),
                Words.micros(effect.windowMicros()));
        line("threads", "%s", threads(effect.threads()));
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
                "  %-36s %9s %9s %9s %11s %9s %9s%n",
                "stage", "instances", "alignment", "flushes", "compactions", "median", "longest");
        diagnosis.stages().stream().limit(STAGES_MAX).forEach(this::printStage);
        if (diagnosis.stages().size() > STAGES_MAX) {
            out.printf("  and %d more; --json has all%n", diagnosis.stages().size() - STAGES_MAX);
        }
    }

    private void printStage(StageReport stage) {
        out.printf(
                "  %-36s %9d %9s %9d %11d %9s %9s%n",
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
        out.printf(
                "  %-23s %11s %9s %9s %9s%s%n",
                "worst moments (UTC)",
                "compactions",
                "instances",
                "flushes",
                "busy",
                report.latencyLog() == null ? "" : "    latency");
        diagnosis.worst().forEach(this::printMoment);
    }

    private void printMoment(WorstMoment moment) {
        Double latency = moment.latencyMs();
        out.printf(
                "  %-23s %11d %9d %9d %9s%s%n",
                Words.time(moment.micros()),
                moment.compactions(),
                moment.instances(),
                moment.flushes(),
                Words.micros(moment.lastsMicros()),
                latency == null ? "" : Words.format(" %10s", Words.millis(latency)));
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
        List<String> empty = tally.withoutEvents();
        if (!empty.isEmpty()) {
            line(
                    "no events",
                    "in %s, for example %s; Flink needs state.backend.rocksdb.log.level: INFO_LEVEL",
                    Words.count(empty.size(), "file"),
                    empty.get(0));
        }
    }

    private void printAdvice() {
        List<Advice> advice = report.recommendation().advice();
        out.println();
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
