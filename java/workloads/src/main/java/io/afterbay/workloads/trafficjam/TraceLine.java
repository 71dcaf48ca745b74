package io.afterbay.workloads.trafficjam;

import org.jspecify.annotations.Nullable;

/**
 * A line on its way from the reading thread to the task: a report, a line that is none, or (without
 * text) the end of a pass over the trace.
 *
 * @param pass 0 for the first time through the trace
 * @param number line number in the file, from 1, which is the header
 * @param endOffset decompressed bytes of the file up to and including this line
 */
record TraceLine(
        int pass,
        long number,
        long endOffset,
        @Nullable String text,
        @Nullable Report report,
        String problem) {

    static TraceLine of(int pass, long number, long endOffset, String text) {
        ReportParser.Result result = ReportParser.parse(text);
        return new TraceLine(pass, number, endOffset, text, result.report(), result.problem());
    }

    static TraceLine endOfPass(int pass) {
        return new TraceLine(pass, 0, 0, null, null, "");
    }

    boolean isEndOfPass() {
        return text == null;
    }

    TraceLine stamped(long micros) {
        return report == null
                ? this
                : new TraceLine(pass, number, endOffset, text, report.stamped(micros), problem);
    }
}
