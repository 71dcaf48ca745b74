package io.afterbay.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The CPU time of the state backend per event, in Markdown: a row for each backend on each query,
 * in microseconds, and what of that Afterbay takes. Empty if nothing is recorded.
 */
final class StoreCpuTable {
    private static final List<Figure> PARTS =
            List.of(
                    Figure.STORE_WRITE_CPU_US_PER_EVENT,
                    Figure.STORE_READ_CPU_US_PER_EVENT,
                    Figure.BACKGROUND_CPU_US_PER_EVENT);

    private final MarkdownTable table =
            new MarkdownTable(
                    Evidence.header(
                            List.of(
                                    "query",
                                    "backend",
                                    "writes, us",
                                    "reads, us",
                                    "compaction, us",
                                    "rest of the tasks, us",
                                    "afterbay / it, writes",
                                    "reads",
                                    "compaction")));
    private boolean isEmpty = true;

    StoreCpuTable(List<RecordedComparison> rows) {
        rows.forEach(this::add);
    }

    private void add(RecordedComparison one) {
        one.runs().stream()
                .map(Run::backend)
                .distinct()
                .filter(backend -> isMeasured(one.runsOf(backend)))
                .forEach(backend -> add(one, backend));
    }

    private static boolean isMeasured(List<Run> runs) {
        return Figure.STORE_WRITE_CPU_US_PER_EVENT.median(runs) != null;
    }

    private void add(RecordedComparison one, String backend) {
        List<Run> runs = one.runsOf(backend);
        List<String> row = new ArrayList<>(List.of(code(one.query()), code(backend)));
        PARTS.forEach(part -> row.add(range(runs, part::of)));
        row.add(range(runs, StoreCpuTable::restOfTasks));
        PARTS.forEach(part -> row.add(ratio(one, backend, part)));
        table.row(one.evidence().row(row));
        isEmpty = false;
    }

    private static String range(List<Run> runs, Function<Run, @Nullable Double> figure) {
        return TrialHistory.range(
                runs.stream()
                        .filter(Run::finished)
                        .flatMap(run -> Stream.ofNullable(figure.apply(run))));
    }

    /** The engine and the job itself. */
    private static @Nullable Double restOfTasks(Run run) {
        return run.storeWriteCpuUsPerEvent() == null
                ? null
                : Objects.requireNonNull(run.taskCpuUsPerEvent())
                        - run.storeWriteCpuUsPerEvent()
                        - Objects.requireNonNull(run.storeReadCpuUsPerEvent());
    }

    private static String ratio(RecordedComparison one, String backend, Figure part) {
        Ratio ratio = backend.equals(Ratios.ours(one.runs())) ? null : one.ratio(backend, part);
        return ratio == null ? ResultsPage.MISSING : ResultsPage.text(ratio);
    }

    private static String code(String text) {
        return "`" + text + "`";
    }

    @Override
    public String toString() {
        return isEmpty
                ? ""
                : "CPU of the store per event: write, read, compaction (the state backend's own"
                        + " threads: flush, compaction, transfers, asynchronous part of"
                        + " checkpoints); median of the runs [lowest..highest], and of the pairs\n\n"
                        + table;
    }
}
