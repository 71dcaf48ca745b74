package io.afterbay.doctor.report;

import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.LatencyEffect;
import io.afterbay.doctor.analysis.Rhythm;
import io.afterbay.doctor.analysis.Unit;
import io.afterbay.doctor.analysis.Verdict;

/**
 * What stands at the top of the page, for somebody who has never heard of flushes and compactions,
 * and looks for five seconds. The terms come below it.
 */
final class PageWords {
    /** How many times its median the longest latency is, to be called a spike. */
    private static final double SPIKE = 5;

    private final Report report;
    private final Diagnosis diagnosis;

    PageWords(Report report) {
        this.report = report;
        this.diagnosis = report.diagnosis();
    }

    /** The verdict as a word or three. */
    String badge() {
        return switch (diagnosis.verdict()) {
            case ALIGNED -> "Aligned";
            case PARTLY_ALIGNED -> "Partly aligned";
            case NOT_ALIGNED -> Headline.isCured(diagnosis) ? "Cured" : "Not aligned";
            case TOO_LITTLE_DATA -> "Too little data";
        };
    }

    /** What colour it is to have. */
    String mood() {
        return switch (diagnosis.verdict()) {
            case ALIGNED, PARTLY_ALIGNED -> "bad";
            case NOT_ALIGNED -> Headline.suffers(diagnosis) ? "mixed" : "good";
            case TOO_LITTLE_DATA -> "none";
        };
    }

    /** Whose logs these are. */
    String subject() {
        if (diagnosis.instances().isEmpty()) {
            return "no database";
        }
        JobReport worst = report.jobs().get(0);
        return "%s%s, %s of %s%s, %s"
                .formatted(
                        diagnosis.engine().label(),
                        report.hasSeveralJobs() ? ", " + worst.origin().label() : "",
                        things(diagnosis.instances().size()),
                        Words.count(diagnosis.stages().size(), diagnosis.unit().group()),
                        diagnosis.versions().isEmpty()
                                ? ""
                                : " (RocksDB " + String.join(", ", diagnosis.versions()) + ")",
                        diagnosis.hasTime()
                                ? Words.micros(diagnosis.spanMicros())
                                : "of no time that is known");
    }

    String headline() {
        int instances = diagnosis.instances().size();
        return switch (diagnosis.verdict()) {
            case ALIGNED, PARTLY_ALIGNED -> together(instances) + rhythm() + cost();
            case NOT_ALIGNED ->
                    things(instances)
                            + " do their heavy work at different times, as they should"
                            + (Headline.suffers(diagnosis) ? ", but too many at once" : "");
            case TOO_LITTLE_DATA ->
                    "There is too little data to say whether the %s work at the same time"
                            .formatted(things());
        };
    }

    private String together(int instances) {
        int atOnce = diagnosis.overlap().mostInstances();
        int afterSame = diagnosis.mostInstancesPerSlot();
        return 2 * atOnce >= afterSame
                ? "%d of %s do their heavy work at the same moment"
                        .formatted(atOnce, things(instances))
                : "%d of %s do their heavy work one after the other, but all of it after the same %s"
                        .formatted(
                                afterSame,
                                things(instances),
                                diagnosis.unit() == Unit.INSTANCE ? "checkpoint" : "flushes");
    }

    /** Databases, for a reader who knows of no instances. */
    String things() {
        return diagnosis.unit() == Unit.INSTANCE ? "databases" : diagnosis.unit().many();
    }

    /** The term that the page explains. */
    String unit() {
        return diagnosis.unit() == Unit.INSTANCE ? "Instance" : "Column family";
    }

    String unitIs() {
        return diagnosis.unit() == Unit.INSTANCE
                ? "One of the many small databases (RocksDB) in which a job keeps its state."
                : "A part of a database (RocksDB) with files of its own, which is what counts here;"
                        + " what is said of instances below is said of column families.";
    }

    private String things(int number) {
        return diagnosis.unit() == Unit.INSTANCE
                ? Words.count(number, "database")
                : diagnosis.unit().count(number);
    }

    private String rhythm() {
        Rhythm rhythm = diagnosis.rhythm();
        return rhythm.bursts() == 0
                ? ""
                : ", about every "
                        + Words.micros(Math.max(1, rhythm.everyNthBurst()) * rhythm.periodMicros());
    }

    private String cost() {
        return diagnosis.latency().map(this::cost).orElse("");
    }

    /**
     * With one thread for compactions, no two of them ever run at once, and there is nothing to
     * compare with; spikes are there all the same.
     */
    private String cost(LatencyEffect effect) {
        if (Headline.suffers(diagnosis)) {
            return ". Events then wait %s instead of %s (P99)"
                    .formatted(
                            Words.millis(effect.togetherP99Ms()),
                            Words.millis(effect.otherP99Ms()));
        }
        return effect.longestMs() >= SPIKE * effect.medianMs()
                ? ". Events wait up to %s, in most moments %s"
                        .formatted(
                                Words.millis(effect.longestMs()), Words.millis(effect.medianMs()))
                : "";
    }

    /** What the headline means; terms are introduced here. */
    String meaning() {
        if (diagnosis.verdict() == Verdict.TOO_LITTLE_DATA) {
            return Words.sentence(diagnosis.lack()) + " " + Headline.meaning(diagnosis);
        }
        return Headline.meaning(diagnosis);
    }
}
