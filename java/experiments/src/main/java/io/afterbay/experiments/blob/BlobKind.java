package io.afterbay.experiments.blob;

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
 * The experiment about the blob store on one machine.
 *
 * @param rounds see {@link TrialKind#rounds}
 * @param build how the programs are compiled
 * @param notRun why something that was asked for does not run
 */
record BlobKind(List<List<BlobPlan>> rounds, RustPrograms.Build build, List<String> notRun)
        implements TrialKind<BlobPlan, BlobTrial> {

    /** With more of it in the page cache, a run is not cold. */
    private static final double CACHED_PERCENT_MAX = 5;

    @Override
    public String experiment() {
        return "blob";
    }

    @Override
    public Class<? extends TrialWorker<BlobPlan, BlobTrial>> worker(BlobPlan plan) {
        return BlobWorker.class;
    }

    @Override
    public Class<BlobTrial> type() {
        return BlobTrial.class;
    }

    @Override
    public void prepare() throws CommandFailure, InterruptedException {
        notRun.forEach(text -> System.err.println("afterbay: " + text));
        BlobPrograms.build(build);
    }

    @Override
    public BlobTrial failed(BlobPlan plan, String reason) {
        return plan.trial().failed(reason);
    }

    @Override
    public BlobTrial failed(BlobTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(BlobPlan plan, BlobTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(BlobTrial run) {
        if (run.setting().isIndex()) {
            BlobTrial.Index index = run.index();
            return "%s MB per million blobs; %s reads from disk per get, %s with nothing cached"
                    .formatted(
                            figure(index.indexMemoryBytesPerBlob()),
                            figure(index.diskReadsLogsCold()),
                            figure(index.diskReadsAllCold()));
        }
        return "%s requests/s, %s MB/s; P50 %s, P99 %s ms; %s CPU-s/GB; %s of %s objects wrong"
                .formatted(
                        figure(run.rates().requestsPerS()),
                        figure(run.rates().mbPerS()),
                        figure(run.rates().p50Ms()),
                        figure(run.rates().p99Ms()),
                        figure(run.cost().serverCpuSecondsPerGb()),
                        count(run.outcome().wrong()),
                        count(run.outcome().verified()));
    }

    private static String figure(@Nullable Double value) {
        return value == null
                ? "-"
                : String.format(Locale.ROOT, value < 10 ? "%.2f" : "%,.0f", value);
    }

    private static String count(@Nullable Long value) {
        return value == null ? "-" : value.toString();
    }

    @Override
    public List<String> problems(BlobTrial run) {
        List<String> problems = new ArrayList<>();
        BlobVariant variant = BlobVariant.named(run.setting().variant());
        long wrong = orZero(run.outcome().wrong());
        if (variant.isControl()) {
            if (wrong == 0) {
                problems.add("the control passes: one byte differs, and nobody found it");
            }
        } else if (wrong > 0) {
            problems.add("%d objects are not what was put".formatted(wrong));
        }
        if (orZero(run.outcome().errors()) > 0) {
            problems.add("%d requests failed".formatted(run.outcome().errors()));
        }
        if ((variant.isStore() || run.setting().isIndex())
                && orZero(run.outcome().verified()) == 0) {
            problems.add("no object was verified");
        }
        if (!run.setting().isIndex() && !hasRequests(run) && !variant.isControl()) {
            problems.add("no request was counted; use a longer --open");
        }
        Double cached = run.outcome().cachedPercent();
        if (cached != null && cached > CACHED_PERCENT_MAX) {
            problems.add(
                    "%.0f %% of its files stayed in the page cache: it was not cold"
                            .formatted(cached));
        }
        return problems;
    }

    private static boolean hasRequests(BlobTrial run) {
        return orZero(run.rates().requests()) > 0;
    }

    private static long orZero(@Nullable Long value) {
        return value == null ? 0 : value;
    }

    @Override
    public String report(List<RecordedTrial<BlobTrial>> trials) {
        return new BlobPage(trials).details() + missing();
    }

    private String missing() {
        return notRun.stream().map(text -> "\n" + text + "\n").collect(Collectors.joining());
    }
}
