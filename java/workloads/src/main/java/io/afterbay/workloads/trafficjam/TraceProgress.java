package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.Schedule;
import org.jspecify.annotations.Nullable;

/**
 * The single reader's decisions, in the order of the lines: which reports are late, and where in
 * event time a repeated pass lies. Lives on the task's thread and becomes a {@link TraceSplit} in a
 * checkpoint.
 *
 * <p>A pass is later than the one before by a whole number of windows, just enough to lie behind
 * it, and its cars are others. So each pass gives the results of the first, shifted, and rejects
 * the same lines; those are counted and written once.
 */
final class TraceProgress {
    private int pass;
    private long lineNumber;
    private long offset;
    private long lines;
    private long minTimeS;
    private long maxTimeS;
    private long periodS;
    private long accepted;
    private long late;
    private long malformed;
    private long rejectsBytes;
    private final Schedule schedule;

    TraceProgress(TraceSplit split) {
        pass = split.pass();
        lineNumber = split.lineNumber();
        offset = split.offset();
        lines = split.lines();
        minTimeS = split.minTimeS();
        maxTimeS = split.maxTimeS();
        periodS = split.periodS();
        accepted = split.accepted();
        late = split.late();
        malformed = split.malformed();
        rejectsBytes = split.rejectsBytes();
        schedule = split.schedule();
    }

    TraceSplit toSplit() {
        return new TraceSplit(
                pass,
                lineNumber,
                offset,
                lines,
                minTimeS,
                maxTimeS,
                periodS,
                accepted,
                late,
                malformed,
                rejectsBytes,
                schedule);
    }

    /** Moves behind a line. Returns its report as the job sees it, or null if it is rejected. */
    @Nullable Report take(TraceLine line) {
        lineNumber = line.number();
        offset = line.endOffset();
        lines++;
        if (line.report() == null) {
            malformed += isFirstPass() ? 1 : 0;
            return null;
        }
        Report report = shifted(line.report());
        if (report.timeS() < maxTimeS - Report.LATENESS_S) {
            late += isFirstPass() ? 1 : 0;
            return null;
        }
        accept(report.timeS());
        return report;
    }

    private Report shifted(Report report) {
        return isFirstPass()
                ? report
                : report.at(report.timeS() + pass * periodS, report.car() + "#" + pass);
    }

    private void accept(long timeS) {
        accepted++;
        maxTimeS = Math.max(maxTimeS, timeS);
        if (isFirstPass() && (minTimeS == TraceSplit.NO_TIME || timeS < minTimeS)) {
            minTimeS = timeS;
        }
    }

    /** Moves to the beginning of the next pass. */
    void endPass() {
        if (isFirstPass() && maxTimeS != TraceSplit.NO_TIME) {
            long firstWindowStartS = Report.windowEndS(minTimeS) - Report.WINDOW_S;
            periodS = Report.windowEndS(maxTimeS) - firstWindowStartS;
        }
        pass++;
        lineNumber = 0;
        offset = 0;
    }

    /** Whether rejected lines are news. */
    boolean isFirstPass() {
        return pass == 0;
    }

    void rejectsBytes(long bytes) {
        rejectsBytes = bytes;
    }

    long accepted() {
        return accepted;
    }

    long late() {
        return late;
    }

    long malformed() {
        return malformed;
    }
}
