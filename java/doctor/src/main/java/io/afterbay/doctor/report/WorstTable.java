package io.afterbay.doctor.report;

import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.WorstMoment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The worst moments as cells, with those columns of which something is known. */
final class WorstTable {
    private static final String BESIDE = "beside it";

    private final List<WorstMoment> moments;
    private final List<Column> columns = new ArrayList<>();

    private record Column(String name, Function<WorstMoment, String> cell) {}

    WorstTable(Diagnosis diagnosis) {
        moments = diagnosis.worst();
        add("time (UTC)", moment -> Words.time(moment.micros()));
        add("compactions", moment -> "" + moment.compactions());
        add(diagnosis.unit().many(), moment -> "" + moment.instances());
        add("flushes", moment -> "" + moment.flushes());
        add("busy", moment -> Words.micros(moment.lastsMicros()));
        addKnown("latency", WorstMoment::latencyMs, Words::millis);
        addKnown("GC pause", WorstMoment::gcPauseMs, ms -> ms == 0 ? "-" : Words.millis(ms));
        addKnown("CPU", WorstMoment::cpu, Words::percent);
        addKnown("queue", WorstMoment::queue, events -> Words.format("%,.0f", events));
        if (moments.stream().anyMatch(moment -> moment.latencyMs() != null)) {
            add(BESIDE, WorstTable::beside);
        }
    }

    private void add(String name, Function<WorstMoment, String> cell) {
        columns.add(new Column(name, cell));
    }

    private void addKnown(
            String name,
            Function<WorstMoment, @Nullable Double> value,
            Function<Double, String> words) {
        if (moments.stream().map(value).anyMatch(Objects::nonNull)) {
            add(
                    name,
                    moment -> {
                        @Nullable Double known = value.apply(moment);
                        return known == null ? "-" : words.apply(known);
                    });
        }
    }

    /** What may have caused the latency. */
    static String beside(WorstMoment moment) {
        if (moment.isGcPause()) {
            return "not RocksDB: a GC pause";
        }
        if (moment.compactions() > 0) {
            return Words.count(moment.compactions(), "compaction");
        }
        return moment.flushes() > 0 ? "flushes only" : "nothing of RocksDB";
    }

    List<String> names() {
        return columns.stream().map(Column::name).toList();
    }

    List<List<String>> rows() {
        return moments.stream()
                .map(moment -> columns.stream().map(column -> column.cell.apply(moment)).toList())
                .toList();
    }

    /** For a terminal: names first. */
    List<String> lines() {
        List<List<String>> all = new ArrayList<>(List.of(names()));
        all.addAll(rows());
        return Columns.lines(all, names().indexOf(BESIDE));
    }
}
