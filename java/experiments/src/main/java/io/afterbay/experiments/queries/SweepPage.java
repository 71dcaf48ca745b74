package io.afterbay.experiments.queries;

import io.afterbay.bench.Aim;
import io.afterbay.bench.Cell;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The tables about parameters of the store, one for each parameter. */
public final class SweepPage extends TrialPage<SweepPage.Kind, QueryTrial> {

    /** Runs of one kind; compared with that of the default value. */
    record Kind(String parameter, Cell cell, String query, String value, boolean isDefault) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::parameter)
                        .thenComparing(Kind::cell)
                        .thenComparing(Kind::query)
                        .thenComparingDouble(Kind::size);

        private static Kind of(QueryTrial trial) {
            QueryTrial.Setting of = trial.setting();
            return new Kind(
                    Objects.requireNonNull(of.parameter()),
                    of.cell(),
                    of.query(),
                    Objects.requireNonNull(of.value()),
                    of.isDefault());
        }

        private boolean isComparedWith(Kind other) {
            return parameter.equals(other.parameter)
                    && cell == other.cell
                    && query.equals(other.query);
        }

        /** Values are numbers, with or without a unit of 1024: {@code 1.5}, {@code 64k}. */
        private double size() {
            char unit = value.charAt(value.length() - 1);
            if (Character.isDigit(unit)) {
                return Double.parseDouble(value);
            }
            double number = Double.parseDouble(value.substring(0, value.length() - 1));
            return number * (unit == 'm' ? 1 << 20 : 1 << 10);
        }
    }

    public SweepPage(List<RecordedTrial<QueryTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<QueryTrial>> read(Path directory) throws IOException {
        return read(directory, "sweep", QueryTrial.class);
    }

    /** The sweeps only show whether the defaults are well chosen. */
    @Override
    public List<Aim> aims() {
        return List.of();
    }

    @Override
    protected Stream<String> tables() {
        return kinds().map(Kind::parameter).distinct().map(this::table);
    }

    private String table(String parameter) {
        List<String> header =
                List.of(
                        "query",
                        "cell",
                        "value",
                        "events/s",
                        "to the default",
                        "CPU us/event",
                        "of it writes of state",
                        "reads of state",
                        "in the background",
                        "written, MB",
                        "disk, MB",
                        "rows");
        return "`%s`, median of the runs [lowest..highest]:\n\n%s"
                .formatted(
                        parameter,
                        table(
                                kinds().filter(kind -> kind.parameter.equals(parameter)),
                                header,
                                this::row));
    }

    private List<String> row(Kind kind) {
        return List.of(
                "`" + kind.query + "`",
                kind.cell.jsonName(),
                kind.value + (kind.isDefault ? " (default)" : ""),
                range(kind, run -> run.closedLoop().eventsPerS()),
                toDefault(kind, run -> run.closedLoop().eventsPerS()),
                range(kind, run -> run.closedLoop().cpuUsPerEvent()),
                range(kind, run -> run.closedLoop().storeWriteCpuUsPerEvent()),
                range(kind, run -> run.closedLoop().storeReadCpuUsPerEvent()),
                range(kind, run -> run.closedLoop().backgroundCpuUsPerEvent()),
                range(kind, run -> run.closedLoop().writtenMb()),
                range(kind, run -> run.resources().diskMb()),
                LatencyPage.rows(
                        kinds().filter(kind::isComparedWith).flatMap(other -> of(other).stream())));
    }

    private String toDefault(Kind kind, MeasuredValue<QueryTrial> figure) {
        return kinds().filter(other -> other.isDefault && kind.isComparedWith(other))
                .filter(other -> !kind.isDefault)
                .findFirst()
                .map(other -> ratio(ratios(kind, other, figure)))
                .orElse(ResultsPage.MISSING);
    }
}
