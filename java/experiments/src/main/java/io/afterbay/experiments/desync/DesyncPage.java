package io.afterbay.experiments.desync;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.Ratio;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about instances of RocksDB that are kept apart, in Markdown, with what is aimed at and
 * whether it is met (ShadowSync, section 5).
 */
public final class DesyncPage extends TrialPage<DesyncPage.Kind, DesyncTrial> {
    private static final String DEFAULT = "default";
    private static final String ALIGNED = "ALIGNED";
    private static final String PARTLY = "partly aligned";

    /** Cures that are Afterbay's; the others are RocksDB's own. */
    private static final Set<String> OUR_CURES =
            Set.of("spread", "gate", "knee", "flushes", "all", "tuned");

    private static final String KNEE = "knee";

    /** Cures that set numbers of threads and nothing else. */
    private static final Set<String> OF_THREADS = Set.of(KNEE, "flushes", "one-thread");

    private static final List<MeasuredValue<DesyncTrial>> TAIL =
            List.of(
                    run -> run.latency().p95Ms(),
                    run -> run.latency().p99Ms(),
                    run -> run.latency().p999Ms());

    private static final String COMMAND = "./afterbay bench desync";
    private static final double AIM_P999 = 0.2;
    private static final double AIM_P95 = 0.5;
    private static final double AIM_WORST = 1.05;

    /** Where the default's worst is so many times its median, there is a problem to cure. */
    private static final double PROBLEM_MIN = 5;

    /** Ratios in between are no difference. */
    private static final double GAIN_MAX = 0.95;

    private static final String PROBLEM =
            " where that is five times its median or more and instances are aligned";

    /** Runs of one kind; compared with those of the default, which differ in the cure only. */
    record Kind(DesyncPlace place, String cure, @Nullable Integer value) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::place, DesyncPlace.ORDER)
                        .thenComparing(kind -> !kind.cure.equals(DEFAULT))
                        .thenComparing(Kind::cure)
                        .thenComparing(kind -> kind.value == null ? 0 : kind.value);

        private static Kind of(DesyncTrial trial) {
            DesyncTrial.Setting of = trial.setting();
            return new Kind(DesyncPlace.of(of), of.cure(), of.value());
        }

        private Kind uncured() {
            return new Kind(place, DEFAULT, null);
        }

        private boolean isOfRate() {
            return cure.equals(DesyncTrial.Setting.RATE);
        }

        private boolean isCure() {
            return !isOfRate() && !cure.equals(DEFAULT);
        }

        private boolean isOurCure() {
            return value == null && OUR_CURES.contains(cure);
        }

        private String setting() {
            return cure + ", " + place.text();
        }
    }

    public DesyncPage(List<RecordedTrial<DesyncTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    /**
     * Lines of the first form are left out: their load was a share of the maximum rate, and their
     * latencies were those of rankings.
     */
    public static List<RecordedTrial<DesyncTrial>> read(Path directory) throws IOException {
        return read(directory, "desync", DesyncTrial.class).stream()
                .filter(one -> isComparable(one.run().setting()))
                .toList();
    }

    private static boolean isComparable(DesyncTrial.Setting setting) {
        return setting.history() > 0 || setting.vocabulary() != null;
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                gain("P99.9", AIM_P999, run -> run.latency().p999Ms()).asHeadline(),
                gain("P95", AIM_P95, run -> run.latency().p95Ms()),
                worst());
    }

    private Aim gain(String figure, double bound, MeasuredValue<DesyncTrial> value) {
        return new Aim(
                "%s of the latency on RocksDB, cured to default%s".formatted(figure, PROBLEM),
                "%s is at most %sx of the default's%s".formatted(figure, bound, PROBLEM),
                false,
                bound,
                "x",
                ours().filter(this::showsProblem).flatMap(kind -> value(kind, value)).toList(),
                COMMAND);
    }

    /** Who cures the tail must not pay for it elsewhere. */
    private Aim worst() {
        return new Aim(
                "P95, P99 and P99.9 of the latency on RocksDB, the worst of the three, cured to default",
                "none of P95, P99 and P99.9 is above %sx of the default's".formatted(AIM_WORST),
                false,
                AIM_WORST,
                "x",
                ours().flatMap(this::worst).toList(),
                COMMAND);
    }

    private Stream<Aim.Value> worst(Kind kind) {
        return TAIL.stream()
                .flatMap(figure -> value(kind, figure))
                .max(Comparator.comparingDouble(Aim.Value::value))
                .stream();
    }

    private Stream<Kind> ours() {
        return kinds().filter(Kind::isOurCure).filter(kind -> !didNothing(kind));
    }

    private Stream<Aim.Value> value(Kind kind, MeasuredValue<DesyncTrial> figure) {
        return value(kind, kind.setting(), ratios(kind, kind.uncured(), figure));
    }

    /** The default that ran beside a cure, or without one all of them. */
    private List<DesyncTrial> uncured(Kind kind) {
        return kind.isCure() ? beside(kind, kind.uncured()) : of(kind.uncured());
    }

    private boolean showsProblem(Kind kind) {
        Double growth =
                growth(
                        values(uncured(kind), run -> run.latency().p999Ms()),
                        values(uncured(kind), run -> run.latency().p50Ms()));
        return growth != null && growth >= PROBLEM_MIN && isAligned(uncured(kind));
    }

    private static boolean isAligned(List<DesyncTrial> runs) {
        return runs.stream().allMatch(run -> ALIGNED.equals(run.overlap().verdict()));
    }

    @Override
    protected Stream<String> tables() {
        return Stream.concat(
                Stream.of(verdicts(), rates(), latencies(), overlaps()),
                kinds().filter(kind -> kind.value != null)
                        .map(Kind::cure)
                        .distinct()
                        .map(this::sweep));
    }

    /** Which cure earns its keep where. */
    private String verdicts() {
        String items =
                places().map(this::verdict).filter(text -> !text.isEmpty()).collect(joining());
        return items.isEmpty()
                ? ""
                : "P99.9 to that of the default in the same round (ShadowSync with spread triggers and delayed compactions together, on 16 cores: below 0.2x on Flink, 0.54x on Kafka Streams):\n\n"
                        + items;
    }

    private Stream<DesyncPlace> places() {
        return kinds().map(Kind::place).distinct();
    }

    private String verdict(DesyncPlace place) {
        List<String> parts =
                Stream.of(
                                cures(place, "earns its keep", ratio -> ratio <= GAIN_MAX),
                                cures(
                                        place,
                                        "makes no difference",
                                        ratio -> ratio > GAIN_MAX && ratio <= AIM_WORST),
                                cures(place, "makes it worse", ratio -> ratio > AIM_WORST),
                                named(
                                        place,
                                        "set as many threads as there were, so much do runs differ",
                                        this::didNothing,
                                        ratio -> true))
                        .filter(part -> !part.isEmpty())
                        .toList();
        return parts.isEmpty()
                ? ""
                : "- %s (%s): %s.\n"
                        .formatted(place.text(), problem(place), String.join("; ", parts));
    }

    private String problem(DesyncPlace place) {
        Kind uncured = new Kind(place, DEFAULT, null);
        if (!isAligned(of(uncured))) {
            return aligned(uncured).equals(PARTLY)
                    ? PARTLY
                    : "the default is not aligned, there is nothing to spread";
        }
        return showsProblem(uncured) ? "aligned" : "aligned, but latency bears it";
    }

    private String cures(DesyncPlace place, String what, DoublePredicate counts) {
        return named(place, what, kind -> !didNothing(kind), counts);
    }

    private String named(
            DesyncPlace place, String what, Predicate<Kind> which, DoublePredicate counts) {
        String names =
                kinds().filter(kind -> kind.place.equals(place) && kind.isCure())
                        .filter(kind -> kind.value == null)
                        .filter(which)
                        .flatMap(kind -> named(kind, counts))
                        .collect(joining(", "));
        return names.isEmpty() ? "" : what + ": " + names;
    }

    /**
     * Whether the threads were those of the default. Lines that do not tell threads do so for the
     * knee: where none is found, it is as many as processors.
     */
    private boolean didNothing(Kind kind) {
        if (!OF_THREADS.contains(kind.cure)) {
            return false;
        }
        List<DesyncTrial> others = beside(kind, kind.uncured());
        if (of(kind).stream().allMatch(run -> run.pools().flushThreads() == null)) {
            return kind.cure.equals(KNEE)
                    && of(kind).stream().allMatch(run -> run.overlap().kneeThreads() == null)
                    && haveSame(of(kind), others, run -> run.overlap().mostAtOnce());
        }
        return haveSame(of(kind), others, DesyncTrial::pools);
    }

    private static boolean haveSame(
            List<DesyncTrial> runs,
            List<DesyncTrial> others,
            Function<DesyncTrial, @Nullable Object> what) {
        return !others.isEmpty()
                && Stream.concat(runs.stream(), others.stream())
                        .allMatch(
                                run -> Objects.equals(what.apply(run), what.apply(others.get(0))));
    }

    private Stream<String> named(Kind kind, DoublePredicate counts) {
        double[] ratios = ratios(kind, kind.uncured(), run -> run.latency().p999Ms());
        if (ratios.length == 0 || !counts.test(Ratio.median(ratios))) {
            return Stream.empty();
        }
        return Stream.of("%s %sx".formatted(kind.cure, Numbers.format(Ratio.median(ratios))));
    }

    private String rates() {
        List<String> header =
                List.of(
                        "setting",
                        "as fast as possible, events/s",
                        "CPU us/event",
                        "rate for the load, events/s",
                        "processors in the last attempt");
        return "The rate at which the process takes the load:\n\n"
                + table(kinds().filter(Kind::isOfRate), header, this::rate);
    }

    private List<String> rate(Kind kind) {
        return List.of(
                kind.place.text(),
                range(kind, run -> run.outcome().eventsPerS()),
                range(kind, run -> run.outcome().cpuUsPerEvent()),
                range(kind, run -> run.latency().ratePerS()),
                percent(kind));
    }

    /** What was reached, whatever was asked for. */
    private String percent(Kind kind) {
        return range(kind, run -> run.latency().busy() == null ? null : 100 * run.latency().busy())
                + " %";
    }

    private String latencies() {
        List<String> header =
                List.of(
                        "setting",
                        "cure",
                        "P50, ms",
                        "P90, ms",
                        "P95, ms",
                        "P99, ms",
                        "P99.9, ms",
                        "max, ms",
                        "rankings, max, ms",
                        "events waiting, most",
                        "P95 to default",
                        "P99 to default",
                        "P99.9 to default",
                        "processors");
        return "At that rate (open loop), of each report, median of the runs [lowest..highest]; a ratio is of two runs of one round:\n\n"
                + table(open(), header, this::latency);
    }

    private Stream<Kind> open() {
        return kinds().filter(kind -> !kind.isOfRate() && kind.value == null);
    }

    private List<String> latency(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.cure,
                range(kind, run -> run.latency().p50Ms()),
                range(kind, run -> run.latency().p90Ms()),
                range(kind, run -> run.latency().p95Ms()),
                range(kind, run -> run.latency().p99Ms()),
                range(kind, run -> run.latency().p999Ms()),
                range(kind, run -> run.latency().maxMs()),
                range(kind, run -> run.latency().maxRankingMs()),
                range(kind, run -> number(run.latency().mostWaiting())),
                toDefault(kind, run -> run.latency().p95Ms()),
                toDefault(kind, run -> run.latency().p99Ms()),
                toDefault(kind, run -> run.latency().p999Ms()),
                percent(kind));
    }

    private static @Nullable Double number(@Nullable Number value) {
        return value == null ? null : value.doubleValue();
    }

    private String toDefault(Kind kind, MeasuredValue<DesyncTrial> figure) {
        return kind.isCure() ? ratio(ratios(kind, kind.uncured(), figure)) : ResultsPage.MISSING;
    }

    private String overlaps() {
        List<String> header =
                List.of(
                        "setting",
                        "cure",
                        "threads for flushes, compactions",
                        "flushes for checkpoints",
                        "flushes at one moment, most",
                        "for, ms (P90)",
                        "aligned?",
                        "alignment",
                        "compactions",
                        "instances after one checkpoint, most",
                        "for at most, ms",
                        "at one moment, most",
                        "time of flushes met by compactions",
                        "stalls",
                        "held, times",
                        "T, ms");
        return "What RocksDB's logs say of the same runs:\n\n"
                + table(open(), header, this::overlap);
    }

    private List<String> overlap(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.cure,
                threads(kind),
                range(kind, run -> run.overlap().forCheckpoints()),
                range(kind, run -> number(run.overlap().mostFlushes())),
                range(kind, run -> run.overlap().burstMs()),
                aligned(kind),
                range(kind, run -> run.overlap().alignment()),
                range(kind, run -> number(run.overlap().compactions())),
                range(kind, run -> number(run.overlap().mostPerRound())),
                range(kind, run -> run.overlap().longestWaveMs()),
                range(kind, run -> number(run.overlap().mostAtOnce())),
                range(kind, run -> run.overlap().flushesMet()),
                range(kind, run -> number(run.overlap().stalls())),
                range(kind, run -> number(run.gate().holds())),
                range(kind, run -> run.gate().delayMs()));
    }

    private String threads(Kind kind) {
        String pools =
                of(kind).stream()
                        .map(DesyncTrial::pools)
                        .filter(had -> had.flushThreads() != null)
                        .map(had -> had.flushThreads() + ", " + had.compactionThreads())
                        .distinct()
                        .collect(joining("; "));
        return pools.isEmpty() ? ResultsPage.MISSING : pools;
    }

    private String aligned(Kind kind) {
        return of(kind).stream()
                .flatMap(run -> Stream.ofNullable(run.overlap().verdict()))
                .map(verdict -> verdict.toLowerCase(Locale.ROOT).replace('_', ' '))
                .distinct()
                .collect(joining(", "));
    }

    /** The default is the first row of each setting. */
    private String sweep(String name) {
        List<String> header =
                List.of(
                        "setting",
                        name,
                        "P50, ms",
                        "P95, ms",
                        "P99.9, ms",
                        "P99.9 to default",
                        "time of flushes met by compactions",
                        "compactions at one moment, most",
                        "for at most, ms",
                        "knee of the runs, compactions");
        return "`--sweep %s` (%s):\n\n%s"
                .formatted(
                        name,
                        figure(name),
                        table(
                                kinds().filter(
                                                kind ->
                                                        kind.cure.equals(name)
                                                                || isBeside(kind, name)),
                                header,
                                this::swept));
    }

    private boolean isBeside(Kind kind, String name) {
        return kind.cure.equals(DEFAULT)
                && kinds().anyMatch(
                                other -> other.cure.equals(name) && other.place.equals(kind.place));
    }

    private static String figure(String name) {
        return switch (name) {
            case "delay" ->
                    "ms; ShadowSync, figure 12: best at 1000, flat to 3000, worse at the interval";
            case "flush-threads" -> "ShadowSync, figure 13: best at the number of cores, 16";
            default -> "ShadowSync, figures 14 and 15: best at 4 of 16 cores, which is the knee";
        };
    }

    private List<String> swept(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.value == null ? kind.cure : kind.value.toString(),
                range(kind, run -> run.latency().p50Ms()),
                range(kind, run -> run.latency().p95Ms()),
                range(kind, run -> run.latency().p999Ms()),
                toDefault(kind, run -> run.latency().p999Ms()),
                range(kind, run -> run.overlap().flushesMet()),
                range(kind, run -> number(run.overlap().mostAtOnce())),
                range(kind, run -> run.overlap().longestWaveMs()),
                range(kind, run -> number(run.overlap().kneeThreads())));
    }
}
