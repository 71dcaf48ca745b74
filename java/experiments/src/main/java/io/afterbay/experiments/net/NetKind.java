package io.afterbay.experiments.net;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about shared-memory sockets.
 *
 * @param rounds see {@link TrialKind#rounds}
 * @param build how the programs are compiled
 * @param notRun why something that was asked for does not run
 */
record NetKind(List<List<NetPlan>> rounds, RustPrograms.Build build, List<String> notRun)
        implements TrialKind<NetPlan, NetTrial> {
    private static final List<String> PACKAGES =
            List.of("afterbay-net", "afterbay-net-bench", "afterbay-net-preload");

    @Override
    public String experiment() {
        return "net";
    }

    @Override
    public Class<? extends TrialWorker<NetPlan, NetTrial>> worker(NetPlan plan) {
        return NetWorker.class;
    }

    @Override
    public Class<NetTrial> type() {
        return NetTrial.class;
    }

    @Override
    public void prepare() throws CommandFailure, InterruptedException {
        notRun.forEach(text -> System.err.println("afterbay: " + text));
        RustPrograms.build(build, PACKAGES);
    }

    @Override
    public NetTrial failed(NetPlan plan, String reason) {
        return NetTrial.none(plan.setting()).failed(reason);
    }

    @Override
    public NetTrial failed(NetTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(NetPlan plan, NetTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(NetTrial run) {
        return "%s operations/s, %s MB/s; P50 %s, P99 %s us; %s CPU-s/GB; %s wrong; %s bytes crossed for each that was sent"
                .formatted(
                        figure(run.rates().operationsPerS()),
                        figure(run.rates().mbPerS()),
                        figure(run.rates().p50Us()),
                        figure(run.rates().p99Us()),
                        figure(run.cost().cpuSecondsPerGb()),
                        run.outcome().wrong(),
                        figure(run.outcome().networkBytesPerByte()));
    }

    private static String figure(@Nullable Double value) {
        return value == null
                ? "-"
                : String.format(Locale.ROOT, value < 10 ? "%.3f" : "%,.0f", value);
    }

    @Override
    public List<String> problems(NetTrial run) {
        List<String> problems = new ArrayList<>();
        Long wrong = run.outcome().wrong();
        if (wrong != null && wrong > 0) {
            problems.add("%d messages, blocks or values are not what was sent".formatted(wrong));
        }
        Long operations = run.rates().operations();
        if (operations == null || operations == 0) {
            problems.add("nothing was counted; use a longer --open");
            return problems;
        }
        NetWay way = NetWay.named(run.setting().variant());
        NetWork work = NetWork.named(run.setting().work());
        Double crossed = run.outcome().networkBytesPerByte();
        if (work.isLongLived() && crossed != null) {
            if (way == NetWay.MEMORY && crossed > work.crossesMax()) {
                problems.add(
                        "%.1f %% of what was sent crossed the network, and at most %.0f %% may: it was not in memory"
                                .formatted(100 * crossed, 100 * work.crossesMax()));
            }
            if (way.isNetwork() && crossed < 1) {
                problems.add(
                        "%.1f %% of what was sent crossed the network, and all of it should"
                                .formatted(100 * crossed));
            }
        }
        return problems;
    }

    @Override
    public String report(List<RecordedTrial<NetTrial>> trials) {
        return new NetPage(trials).details()
                + notRun.stream().map(text -> "\n" + text + "\n").collect(Collectors.joining());
    }
}
