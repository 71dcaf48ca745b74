package io.afterbay.experiments.queries;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An experiment with NEXMark queries, whose runs differ in the rate or in a parameter of the store.
 *
 * @param experiment see {@link TrialKind#experiment}
 * @param rounds see {@link TrialKind#rounds}
 * @param tables see {@link TrialKind#report}
 */
record QueryKind(
        String experiment,
        List<List<QueryPlan>> rounds,
        Function<List<RecordedTrial<QueryTrial>>, String> tables)
        implements TrialKind<QueryPlan, QueryTrial> {

    @Override
    public Class<? extends TrialWorker<QueryPlan, QueryTrial>> worker(QueryPlan plan) {
        return QueryWorker.class;
    }

    @Override
    public Class<QueryTrial> type() {
        return QueryTrial.class;
    }

    /** A share of the maximum rate needs the run that gave that. */
    @Override
    public QueryPlan ready(QueryPlan plan, List<QueryTrial> before) throws CommandFailure {
        if (plan.ratePercent() == 0) {
            return plan;
        }
        double maximum =
                before.stream()
                        .filter(QueryTrial::finished)
                        .filter(run -> run.setting().ratePercent() == 0)
                        .filter(run -> run.setting().query().equals(plan.size().query()))
                        .filter(run -> run.setting().cell() == plan.size().cell())
                        .map(run -> run.closedLoop().eventsPerS())
                        .filter(Objects::nonNull)
                        .reduce((first, second) -> second)
                        .orElseThrow(
                                () ->
                                        new CommandFailure(
                                                "the run that gives the maximum rate has failed"));
        return plan.at(maximum * plan.ratePercent() / 100);
    }

    @Override
    public QueryTrial failed(QueryPlan plan, String reason) {
        return plan.trial().failed(reason);
    }

    @Override
    public QueryTrial failed(QueryTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(QueryPlan plan, QueryTrial run) {
        return run.setting().equals(plan.trial().setting());
    }

    @Override
    public String describe(QueryTrial run) {
        QueryTrial.OpenLoop open = run.openLoop();
        return run.setting().ratePercent() == 0
                ? String.format(Locale.ROOT, "%,.0f events/s", run.closedLoop().eventsPerS())
                : String.format(
                        Locale.ROOT,
                        "at %,.0f events/s P99 %s ms, longest stall %s ms",
                        open.ratePerS(),
                        figure(open.p99Ms()),
                        figure(open.longestPauseMs()));
    }

    private static String figure(@Nullable Double value) {
        return value == null ? "-" : String.format(Locale.ROOT, "%,.1f", value);
    }

    @Override
    public List<String> problems(QueryTrial run) {
        return run.setting().ratePercent() > 0 && run.openLoop().p99Ms() == null
                ? List.of("no row came while latencies were counted; use a longer --open")
                : List.of();
    }

    /** Runs of a round have the same events. */
    @Override
    public List<String> problems(List<QueryTrial> round) {
        List<String> rows = new ArrayList<>();
        for (QueryTrial run : round) {
            if (run.rows() != null && !rows.contains(run.rows())) {
                rows.add(run.rows());
            }
        }
        return rows.size() < 2
                ? List.of()
                : List.of(
                        "%s: runs of a round gave different rows: %s"
                                .formatted(
                                        round.get(0).setting().query(),
                                        String.join(" and ", rows)));
    }

    @Override
    public String report(List<RecordedTrial<QueryTrial>> trials) {
        return tables.apply(trials);
    }
}
