package io.afterbay.orphans;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import org.apache.flink.core.fs.Path;

/** A report for people. */
public final class OrphanText {
    private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB"};

    private final PrintWriter out;
    private final OrphanReport report;

    private OrphanText(PrintWriter out, OrphanReport report) {
        this.out = out;
        this.report = report;
    }

    /**
     * Prints a report.
     *
     * @param isDeleting whether files were deleted, rather than listed only
     */
    public static void print(PrintWriter out, OrphanReport report, boolean isDeleting) {
        OrphanText text = new OrphanText(out, report);
        report.jobs().forEach(text::print);
        text.printTotals(isDeleting);
        out.flush();
    }

    private void print(JobOrphans job) {
        out.println(job.directory());
        if (job.orphans().isEmpty()) {
            out.println("  no file that no checkpoint refers to");
        }
        job.orphans().forEach(orphan -> print(job, orphan));
        job.links().forEach(link -> out.println("  left alone, a symbolic link: " + link));
    }

    private void print(JobOrphans job, Orphan orphan) {
        StoredFile file = orphan.file();
        out.printf(
                Locale.ROOT,
                "  %12s  %11s  %s%s%n",
                age(file),
                size(file.bytes()),
                relative(job.directory(), file.path()),
                note(orphan));
    }

    private String age(StoredFile file) {
        return file.modifiedMs() <= 0
                ? "age unknown"
                : age(Duration.ofMillis(Math.max(0, report.nowMs() - file.modifiedMs())));
    }

    static String age(Duration age) {
        if (age.toMinutes() < 1) {
            return age.toSeconds() + " s";
        }
        if (age.toHours() < 1) {
            return age.toMinutes() + " min";
        }
        return age.toDays() < 1
                ? "%d h %d min".formatted(age.toHours(), age.toMinutesPart())
                : "%d d %d h".formatted(age.toDays(), age.toHoursPart());
    }

    private static String size(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0
                ? bytes + " bytes"
                : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
    }

    private static String relative(Path directory, Path file) {
        String prefix = directory + Path.SEPARATOR;
        String path = file.toString();
        return path.startsWith(prefix) ? path.substring(prefix.length()) : path;
    }

    private static String note(Orphan orphan) {
        if (orphan.failure() != null) {
            return "  NOT DELETED: " + orphan.failure();
        }
        if (orphan.verdict() == Verdict.DELETE) {
            return orphan.isDeleted() ? "  deleted" : "";
        }
        return "  kept: " + orphan.verdict().reason();
    }

    private void printTotals(boolean isDeleting) {
        out.printf(
                Locale.ROOT,
                "%n%,d checkpoints and savepoints refer to %,d files. They were looked for in:%n",
                report.checkpoints(),
                report.referenced());
        report.searched().forEach(path -> out.println("  " + path));
        out.println(
                "A job that restored a checkpoint from here, and keeps its own elsewhere, may need"
                        + " files here: name its directory with --referenced-from.");
        out.println("Files that none of them refers to:");
        report.totals()
                .forEach(
                        (verdict, total) ->
                                line(
                                        total,
                                        (verdict == Verdict.DELETE ? "" : "kept: ")
                                                + verdict.reason()));
        if (report.totals().isEmpty()) {
            out.println("  none");
        }
        out.printf(Locale.ROOT, "The limit is %s.%n", age(report.olderThan()));
        printEnd(isDeleting);
    }

    private void line(OrphanReport.Total total, String what) {
        out.printf(
                Locale.ROOT,
                "  %,d %s, %s: %s%n",
                total.files(),
                total.files() == 1 ? "file" : "files",
                size(total.bytes()),
                what);
    }

    private void printEnd(boolean isDeleting) {
        OrphanReport.Total needless = report.total(orphan -> orphan.verdict() == Verdict.DELETE);
        if (isDeleting) {
            out.println("Deleted:");
            line(report.total(Orphan::isDeleted), "are gone");
        } else if (needless.files() > 0) {
            out.println("Nothing was deleted; --delete deletes what nobody needs.");
        } else {
            out.println("There is nothing to delete.");
        }
    }
}
