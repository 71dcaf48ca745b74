package io.afterbay.workloads.trafficjam;

/**
 * The times of reading that latencies are counted from, of the reports of one window.
 *
 * @param firstMicros the earliest stamp
 * @param firstLaterMicros the earliest stamp of reports in the part of the window that lies more
 *     than the lateness bound behind the window before: such a report lets that window close
 * @param lastMicros the latest stamp
 */
public record Stamps(long firstMicros, long firstLaterMicros, long lastMicros) {
    /** No report yet; the earliest of nothing is infinitely late. */
    public static final Stamps NONE = new Stamps(Long.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE);

    Stamps with(Report report) {
        long windowStartS = Report.windowEndS(report.timeS()) - Report.WINDOW_S;
        boolean later = report.timeS() >= windowStartS + Report.LATENESS_S;
        long micros = report.stampMicros();
        return with(new Stamps(micros, later ? micros : Long.MAX_VALUE, micros));
    }

    Stamps with(Stamps other) {
        return new Stamps(
                Math.min(firstMicros, other.firstMicros),
                Math.min(firstLaterMicros, other.firstLaterMicros),
                Math.max(lastMicros, other.lastMicros));
    }

    /**
     * The stamp of the report that closed the window which ended so many seconds before the end of
     * this one, or Long.MAX_VALUE if it is not in this window.
     */
    long closingMicros(long secondsBefore) {
        return secondsBefore == Report.WINDOW_S ? firstLaterMicros : firstMicros;
    }
}
