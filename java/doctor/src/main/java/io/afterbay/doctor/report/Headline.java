package io.afterbay.doctor.report;

import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.LatencyEffect;
import io.afterbay.doctor.analysis.Rhythm;
import io.afterbay.doctor.analysis.Triggers;
import io.afterbay.doctor.analysis.Unit;
import io.afterbay.doctor.analysis.Verdict;

/** The verdict in one sentence, for somebody who has never heard of the problem. */
final class Headline {
    /** How much higher the P99 is while several compact, to be called an effect. */
    private static final double WORSE = 2;

    /** Two of the windows in which ShadowSync looks at latency. */
    private static final long SHORT_MICROS = 100_000;

    private static final String OF_FLUSHES =
            " In most of the worst moments below, flushes alone ran: whoever waits for a flush of its"
                    + " own waits for those before it, too, and more threads for flushes help against"
                    + " that.";

    private Headline() {}

    /** Of the worst job; which that is, is said if there are several. */
    static String of(Report report) {
        JobReport worst = report.jobs().get(0);
        return report.hasSeveralJobs()
                ? of(worst.diagnosis()) + " (" + worst.origin().label() + ")"
                : of(worst.diagnosis());
    }

    static String of(Diagnosis diagnosis) {
        return switch (diagnosis.verdict()) {
            case ALIGNED -> "Aligned: " + together(diagnosis);
            case PARTLY_ALIGNED -> "Partly aligned: " + together(diagnosis);
            case NOT_ALIGNED -> "Not aligned: " + apart(diagnosis);
            case TOO_LITTLE_DATA -> "Too little data for a verdict: " + diagnosis.lack();
        };
    }

    private static String together(Diagnosis diagnosis) {
        return Words.format(
                "up to %d of %s %s, %s",
                diagnosis.mostInstancesPerSlot(),
                diagnosis.unit().count(diagnosis.instances().size()),
                diagnosis.rhythm().bursts() > 0
                        ? "compact after the same flushes" + rhythm(diagnosis.rhythm())
                        : "begin to compact together",
                atOnce(diagnosis));
    }

    private static String rhythm(Rhythm rhythm) {
        return rhythm.everyNthBurst() < 2
                ? Words.format(" (every %s)", Words.micros(rhythm.periodMicros()))
                : Words.format(
                        " (every %s time, about every %s)",
                        Words.ordinal(rhythm.everyNthBurst()),
                        Words.micros(rhythm.everyNthBurst() * rhythm.periodMicros()));
    }

    private static String atOnce(Diagnosis diagnosis) {
        int most = diagnosis.overlap().mostInstances();
        return most < 2 ? "one after the other" : "%d of them at the same moment".formatted(most);
    }

    private static String apart(Diagnosis diagnosis) {
        Triggers triggers = diagnosis.triggers();
        String why =
                triggers.differ()
                        ? "%stheir triggers differ (%d to %d files)"
                                .formatted(
                                        isCured(diagnosis) ? "cured, " : "",
                                        triggers.lowest(),
                                        triggers.highest())
                        : "their phases differ";
        return Words.format(
                "%s compact at different times; %s",
                diagnosis.unit().count(diagnosis.instances().size()), why);
    }

    /** Whether somebody has set what keeps instances of a stage apart, and it does. */
    static boolean isCured(Diagnosis diagnosis) {
        return diagnosis.verdict() == Verdict.NOT_ALIGNED
                && diagnosis.unit() == Unit.INSTANCE
                && diagnosis.triggers().areSpread();
    }

    private static boolean isShort(Diagnosis diagnosis) {
        long longest = diagnosis.rhythm().longestWaveMicros();
        return longest < SHORT_MICROS && !suffers(diagnosis);
    }

    /** Whether latency is far higher while several compact. */
    static boolean suffers(Diagnosis diagnosis) {
        return diagnosis.latency().filter(Headline::isWorseTogether).isPresent();
    }

    private static boolean isWorseTogether(LatencyEffect effect) {
        Double together = effect.togetherP99Ms();
        Double others = effect.otherP99Ms();
        return together != null && others != null && together > WORSE * others;
    }

    /** What it means, in some sentences. */
    static String meaning(Diagnosis diagnosis) {
        return ofCompactions(diagnosis) + (isOfFlushes(diagnosis) ? OF_FLUSHES : "");
    }

    /** Whether flushes, and no compaction, ran in most of the moments with the worst latency. */
    private static boolean isOfFlushes(Diagnosis diagnosis) {
        long flushesOnly =
                diagnosis.worst().stream()
                        .filter(moment -> moment.latencyMs() != null && !moment.isGcPause())
                        .filter(moment -> moment.compactions() == 0 && moment.flushes() > 0)
                        .count();
        return 2 * flushesOnly > diagnosis.worst().size();
    }

    private static String ofCompactions(Diagnosis diagnosis) {
        if (diagnosis.verdict() == Verdict.TOO_LITTLE_DATA) {
            return diagnosis.unit() == Unit.INSTANCE
                    ? "Nothing is claimed. Give logs of a longer time, or of all instances of a"
                            + " worker."
                    : "Nothing is claimed. Give logs of a longer time.";
        }
        if (diagnosis.verdict() == Verdict.NOT_ALIGNED && suffers(diagnosis)) {
            return "Background work of the databases is spread over time, as it should be. Latency is"
                    + " higher all the same while several "
                    + diagnosis.unit().many()
                    + " compact: there are too many compactions at once for the processors.";
        }
        if (diagnosis.verdict() == Verdict.NOT_ALIGNED) {
            return "Background work of the databases is spread over time, as it should be. If"
                    + " latency has spikes, their cause is likely to be another one.";
        }
        if (diagnosis.unit() == Unit.COLUMN_FAMILY) {
            return "That work, compaction, merges files in the background. The column families of a"
                    + " database share its threads, and when one of them stalls, writes to all of"
                    + " them wait. Afterbay keeps databases apart, and not what is in one of them;"
                    + " inside it, options of RocksDB help."
                    + (isShort(diagnosis) ? " Here it is so short that it may not be felt." : "");
        }
        return "That work, compaction, merges files in the background, and could be done at any time. When"
                + " many databases do it at once, it takes the processors from the job, and events wait:"
                + " latency has spikes though the average load is moderate."
                + (isShort(diagnosis) ? " Here it is so short that it may not be felt." : "");
    }
}
