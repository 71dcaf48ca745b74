package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
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
    private static final Set<String> OUR_CURES = Set.of("spread", "gate", "knee", "flushes", "all");

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
    record Kind(Place place, String cure, @Nullable Integer value) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparing(Kind::place, Place.ORDER)
                        .thenComparing(kind -> !kind.cure.equals(DEFAULT))
                        .thenComparing(Kind::cure)
                        .thenComparing(kind -> kind.value == null ? 0 : kind.value);

        private static Kind of(DesyncTrial trial) {
            DesyncTrial.Setting of = trial.setting();
            return new Kind(Place.of(of), of.cure(), of.value());
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

    /** What a cure and the default have in common. */
    record Place(
            String engine,
            int subtasks,
            long intervalMs,
            int payloadBytes,
            int history,
            int work,
            int threads,
            String storage,
            int load,
            @Nullable Integer vocabulary) {
        private static final Comparator<Place> ORDER =
                Comparator.comparing(Place::isOnKafka)
                        .thenComparing(Place::engine)
                        .thenComparing(Place::storage)
                        .thenComparing(Place::subtasks)
                        .thenComparing(Place::intervalMs)
                        .thenComparing(Place::payloadBytes)
                        .thenComparing(Place::history)
                        .thenComparing(Place::work)
                        .thenComparing(Place::threads)
                        .thenComparing(Place::load);

        private static Place of(DesyncTrial.Setting of) {
            return new Place(
                    of.backend(),
                    of.subtasks(),
                    of.intervalMs(),
                    of.payloadBytes(),
                    of.history(),
                    of.work(),
                    of.threads(),
                    of.storage(),
                    of.loadPercent(),
                    of.vocabulary());
        }

        private boolean isOnKafka() {
            return vocabulary != null;
        }

        private String text() {
            return vocabulary == null ? onFlink() : onKafka(vocabulary);
        }

        private String onKafka(int words) {
            return "%s, %d partitions, commits every %s, %s, %,d words, %d %% load"
                    .formatted(
                            engine, subtasks, Numbers.duration(intervalMs), storage, words, load);
        }

        private String onFlink() {
            return "%d subtasks, checkpoints every %s, %d threads, %s, %d B x %d, work %d, %d %% load"
                    .formatted(
                            subtasks,
                            Numbers.duration(intervalMs),
                            threads,
                            storage,
                            payloadBytes,
                            history,
                            work,
                            load);
        }
    }

    public DesyncPage(List<RecordedTrial<DesyncTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    /**
     * Lines of the first form are left out: their load was a share of the maximum rate, and their
     * latencies were those of rankings.
     */
    static List<RecordedTrial<DesyncTrial>> read(Path directory) throws IOException {
        return read(directory, "desync", DesyncTrial.class).stream()
                .filter(one -> isComparable(one.run().setting()))
                .toList();
    }

    private static boolean isComparable(DesyncTrial.Setting setting) {
        return setting.history() > 0 || setting.vocabulary() != null;
    }

    @Override
    List<Aim> aims() {
        return List.of(
                aim("P99.9", AIM_P999, this::showsProblem, run -> run.latency().p999Ms())
                        .asHeadline(),
                aim("P95", AIM_P95, this::showsProblem, run -> run.latency().p95Ms()),
                aim("P99", AIM_WORST, kind -> true, run -> run.latency().p99Ms()));
    }

    private Aim aim(
            String figure,
            double bound,
            Predicate<Kind> counts,
            Function<DesyncTrial, @Nullable Double> value) {
        String where = bound < 1 ? PROBLEM : "";
        return new Aim(
                "%s of the latency on RocksDB, cured to default%s".formatted(figure, where),
                "%s is at most %sx of the default's%s".formatted(figure, bound, where),
                false,
                bound,
                "x",
                kinds().filter(Kind::isOurCure)
                        .filter(counts)
                        .flatMap(kind -> value(kind, value))
                        .toList(),
                COMMAND);
    }

    private Stream<Aim.Value> value(Kind kind, Function<DesyncTrial, @Nullable Double> figure) {
        double[] ratios = ratios(kind, kind.uncured(), figure);
        return ratios.length == 0
                ? Stream.empty()
                : Stream.of(new Aim.Value(kind.setting(), Ratio.of(ratios).median()));
    }

    private boolean showsProblem(Kind kind) {
        double[] tail = values(kind.uncured(), run -> run.latency().p999Ms());
        double[] median = values(kind.uncured(), run -> run.latency().p50Ms());
        Double growth = growth(tail, median);
        return growth != null && growth >= PROBLEM_MIN && isAligned(kind.uncured());
    }

    private boolean isAligned(Kind kind) {
        return of(kind).stream().allMatch(run -> ALIGNED.equals(run.overlap().verdict()));
    }

    @Override
    Stream<String> tables() {
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
                : "P99.9 to that of the default (ShadowSync with spread triggers and delayed compactions together, on 16 cores: below 0.2x on Flink, 0.54x on Kafka Streams):\n\n"
                        + items;
    }

    private Stream<Place> places() {
        return kinds().map(Kind::place).distinct();
    }

    private String verdict(Place place) {
        List<String> parts =
                Stream.of(
                                cures(place, "earns its keep", ratio -> ratio <= GAIN_MAX),
                                cures(
                                        place,
                                        "makes no difference",
                                        ratio -> ratio > GAIN_MAX && ratio <= AIM_WORST),
                                cures(place, "makes it worse", ratio -> ratio > AIM_WORST))
                        .filter(part -> !part.isEmpty())
                        .toList();
        return parts.isEmpty()
                ? ""
                : "- %s (%s): %s.\n"
                        .formatted(place.text(), problem(place), String.join("; ", parts));
    }

    private String problem(Place place) {
        Kind uncured = new Kind(place, DEFAULT, null);
        if (!isAligned(uncured)) {
            return aligned(uncured).equals(PARTLY)
                    ? PARTLY
                    : "the default is not aligned, there is nothing to spread";
        }
        return showsProblem(uncured) ? "aligned" : "aligned, but latency bears it";
    }

    private String cures(Place place, String what, DoublePredicate counts) {
        String names =
                kinds().filter(kind -> kind.place.equals(place) && kind.isCure())
                        .filter(kind -> kind.value == null)
                        .flatMap(kind -> named(kind, counts))
                        .collect(joining(", "));
        return names.isEmpty() ? "" : what + ": " + names;
    }

    private Stream<String> named(Kind kind, DoublePredicate counts) {
        double[] ratios = ratios(kind, kind.uncured(), run -> run.latency().p999Ms());
        if (ratios.length == 0 || !counts.test(Ratio.median(ratios))) {
            return Stream.empty();
        }
        return Stream.of("%s %sx".formatted(kind.cure, Numbers.format(Ratio.median(ratios))));
    }

    private String rates() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "setting",
                                "as fast as possible, events/s",
                                "CPU us/event",
                                "rate for the load, events/s",
                                "processors in the last attempt"));
        kinds().filter(Kind::isOfRate)
                .forEach(
                        kind ->
                                table.row(
                                        List.of(
                                                kind.place.text(),
                                                range(kind, run -> run.outcome().eventsPerS()),
                                                range(kind, run -> run.outcome().cpuUsPerEvent()),
                                                range(kind, run -> run.latency().ratePerS()),
                                                percent(kind))));
        return "The rate at which the process takes the load:\n\n" + table;
    }

    /** What was reached, whatever was asked for. */
    private String percent(Kind kind) {
        return range(kind, run -> run.latency().busy() == null ? null : 100 * run.latency().busy())
                + " %";
    }

    private String latencies() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "setting",
                                "cure",
                                "P50, ms",
                                "P95, ms",
                                "P99, ms",
                                "P99.9, ms",
                                "max, ms",
                                "rankings, max, ms",
                                "events waiting, most",
                                "P95 to default",
                                "P99.9 to default",
                                "processors",
                                "pairs"));
        open().forEach(kind -> table.row(latency(kind)));
        return "At that rate (open loop), of each report, median of the runs [lowest..highest]:\n\n"
                + table;
    }

    private Stream<Kind> open() {
        return kinds().filter(kind -> !kind.isOfRate() && kind.value == null);
    }

    private List<String> latency(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.cure,
                range(kind, run -> run.latency().p50Ms()),
                range(kind, run -> run.latency().p95Ms()),
                range(kind, run -> run.latency().p99Ms()),
                range(kind, run -> run.latency().p999Ms()),
                range(kind, run -> run.latency().maxMs()),
                range(kind, run -> run.latency().maxRankingMs()),
                range(kind, run -> number(run.latency().mostWaiting())),
                toDefault(kind, run -> run.latency().p95Ms()),
                toDefault(kind, run -> run.latency().p999Ms()),
                percent(kind),
                Integer.toString(of(kind).size()));
    }

    private static @Nullable Double number(@Nullable Number value) {
        return value == null ? null : value.doubleValue();
    }

    private String toDefault(Kind kind, Function<DesyncTrial, @Nullable Double> figure) {
        return kind.isCure() ? ratio(ratios(kind, kind.uncured(), figure)) : ResultsPage.MISSING;
    }

    private String overlaps() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "setting",
                                "cure",
                                "flushes for checkpoints",
                                "aligned?",
                                "alignment",
                                "compactions",
                                "instances after one checkpoint, most",
                                "for at most, ms",
                                "at one moment, most",
                                "time of flushes met by compactions",
                                "stalls",
                                "held, times",
                                "T, ms"));
        open().forEach(kind -> table.row(overlap(kind)));
        return "What RocksDB's logs say of the same runs:\n\n" + table;
    }

    private List<String> overlap(Kind kind) {
        return List.of(
                kind.place.text(),
                kind.cure,
                range(kind, run -> run.overlap().forCheckpoints()),
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

    private String aligned(Kind kind) {
        return of(kind).stream()
                .flatMap(run -> Stream.ofNullable(run.overlap().verdict()))
                .map(verdict -> verdict.toLowerCase(Locale.ROOT).replace('_', ' '))
                .distinct()
                .collect(joining(", "));
    }

    /** The default is the first row of each setting. */
    private String sweep(String name) {
        MarkdownTable table =
                new MarkdownTable(
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
                                "knee of the runs, compactions",
                                "pairs"));
        kinds().filter(kind -> kind.cure.equals(name) || isBeside(kind, name))
                .forEach(kind -> table.row(swept(kind)));
        return "`--sweep %s` (%s):\n\n%s".formatted(name, figure(name), table);
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
                range(kind, run -> number(run.overlap().kneeThreads())),
                Integer.toString(of(kind).size()));
    }
}
