package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a comparison says, in a sentence that a newcomer understands, and what to be careful about.
 * The sentence is about the strongest other backend.
 */
final class Verdict {
    private final Comparison comparison;
    private final List<Run> runs;
    private final String ours;
    private final List<String> others;

    Verdict(Comparison comparison) {
        this.comparison = comparison;
        this.runs = comparison.runs();
        this.ours = Ratios.ours(runs);
        this.others = Ratios.others(runs);
    }

    /** What a reader must know before the figures; {@code bad} if it puts them in doubt. */
    record Warning(boolean bad, String text) {}

    String headline() {
        if (Objects.equals(comparison.outputsEqual(), false)) {
            return "No verdict: the backends did not give the same rows";
        }
        if (finished(ours) == 0) {
            return finishedOthers().isEmpty()
                    ? "No verdict: no run finished"
                    : "%s did not finish; %s did".formatted(name(ours), join(finishedOthers()));
        }
        if (strongest() == null) {
            return withoutRatio();
        }
        return comparison.isQuick()
                ? "No verdict: --quick shows that all of them run; leave it out to compare them"
                : against(strongest());
    }

    private String withoutRatio() {
        if (others.isEmpty()) {
            return "No verdict: only %s ran".formatted(name(ours));
        }
        return finishedOthers().isEmpty()
                ? "Only %s finished; %s did not".formatted(name(ours), join(others))
                : "No verdict: no pair has the throughput of both backends";
    }

    private String against(String rival) {
        return Stream.of(speed(rival) + cpu(rival), stall(rival), weaker(rival))
                .filter(part -> !part.isEmpty())
                .collect(joining("; "));
    }

    private String speed(String rival) {
        Ratio ratio = ratio(rival, Figure.EVENTS_PER_S);
        if (ratio.min() > 1) {
            return "%s is %s: it processed %s the events of %s"
                    .formatted(
                            name(ours),
                            others.size() > 1 ? "fastest" : "faster",
                            text(ratio),
                            rival);
        }
        return ratio.max() < 1
                ? "%s is faster: %s processed %s its events"
                        .formatted(rival, name(ours), text(ratio))
                : "%s and %s are equally fast: %s the events"
                        .formatted(name(ours), rival, text(ratio));
    }

    private String cpu(String rival) {
        Ratio ratio = ratioOrNull(rival, Figure.CPU_US_PER_EVENT);
        return ratio == null
                ? ""
                : String.format(Locale.ROOT, ", with %.2fx the CPU per event", ratio.median());
    }

    private String stall(String rival) {
        String stall = times(rival, Figure.LONGEST_PAUSE_MS, "the longest stall was");
        return stall.isEmpty() ? times(rival, Figure.MAX_MS, "the worst latency was") : stall;
    }

    private String times(String rival, Figure figure, String what) {
        Double mine = figure.median(of(ours));
        Double theirs = figure.median(of(rival));
        return mine == null || theirs == null
                ? ""
                : "%s %s against %s"
                        .formatted(what, Numbers.duration(mine), Numbers.duration(theirs));
    }

    /** Where the strongest is not beaten: which others are. */
    private String weaker(String rival) {
        if (ratio(rival, Figure.EVENTS_PER_S).min() > 1) {
            return "";
        }
        String beaten =
                rivals().filter(other -> ratio(other, Figure.EVENTS_PER_S).min() > 1)
                        .map(
                                other ->
                                        text(ratio(other, Figure.EVENTS_PER_S))
                                                + " the events of "
                                                + other)
                        .collect(joining(", "));
        return beaten.isEmpty() ? "" : name(ours) + " processed " + beaten;
    }

    List<Warning> warnings() {
        List<Warning> warnings = new ArrayList<>();
        if (Objects.equals(comparison.outputsEqual(), false)) {
            warnings.add(
                    new Warning(
                            true,
                            "The backends gave different rows for the same events. At least one result is"
                                    + " wrong, and the figures below compare jobs that did not do the same."));
        }
        failing().forEach(backend -> warnings.add(failures(backend)));
        if (comparison.outputsEqual() == null && failing().isEmpty()) {
            warnings.add(new Warning(false, "The rows of the backends were not compared."));
        }
        if (comparison.hasMarkerLatency()) {
            warnings.add(
                    new Warning(
                            false,
                            "Latencies are those of Flink's latency markers. They wait in queues with the"
                                    + " events, but pass by the work of the operators and their state."));
        }
        if (runs.stream().mapToInt(Run::pair).distinct().count() == 1) {
            warnings.add(
                    new Warning(
                            false,
                            "There was one pair only, so nothing tells a difference from chance; five"
                                    + " pairs (the default) do."));
        }
        return warnings;
    }

    private List<String> failing() {
        return Stream.concat(Stream.of(ours), others.stream())
                .filter(backend -> finished(backend) < of(backend).size())
                .toList();
    }

    private Warning failures(String backend) {
        List<Run> all = of(backend);
        String reasons =
                all.stream()
                        .map(Run::failure)
                        .filter(Objects::nonNull)
                        .distinct()
                        .collect(joining("; "));
        return new Warning(
                true,
                "%s failed in %d of %d runs: %s"
                        .formatted(backend, all.size() - finished(backend), all.size(), reasons));
    }

    /** The other backend that ours is least ahead of, or null without any ratio. */
    private @Nullable String strongest() {
        return rivals().min(Comparator.comparingDouble(o -> ratio(o, Figure.EVENTS_PER_S).median()))
                .orElse(null);
    }

    private Stream<String> rivals() {
        return others.stream().filter(other -> ratioOrNull(other, Figure.EVENTS_PER_S) != null);
    }

    private Ratio ratio(String other, Figure figure) {
        return Objects.requireNonNull(ratioOrNull(other, figure));
    }

    private @Nullable Ratio ratioOrNull(String other, Figure figure) {
        return comparison.ratio(other, figure);
    }

    private List<Run> of(String backend) {
        return runs.stream().filter(run -> run.backend().equals(backend)).toList();
    }

    private int finished(String backend) {
        return (int) of(backend).stream().filter(Run::finished).count();
    }

    private List<String> finishedOthers() {
        return others.stream().filter(other -> finished(other) > 0).toList();
    }

    private static String name(String backend) {
        return backend.equals("afterbay") ? "Afterbay" : backend;
    }

    private static String join(List<String> backends) {
        return String.join(", ", backends);
    }

    private static String text(Ratio ratio) {
        return ratio.min() == ratio.max()
                ? String.format(Locale.ROOT, "%.2fx", ratio.median())
                : String.format(
                        Locale.ROOT,
                        "%.2fx [%.2f..%.2f]",
                        ratio.median(),
                        ratio.min(),
                        ratio.max());
    }
}
