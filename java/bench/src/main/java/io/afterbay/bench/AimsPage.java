package io.afterbay.bench;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.partitioningBy;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the project aims at, and how far it is: the newest of all that is recorded, in Markdown. It
 * measures nothing itself; each experiment says what its figures mean for its aims.
 */
public final class AimsPage {
    private final List<PartAim> aims;
    private final CodeHistory history;

    private AimsPage(List<PartAim> aims, CodeHistory history) {
        this.aims = aims;
        this.history = history;
    }

    /** An aim, and whose it is. */
    private record PartAim(Part part, Aim aim) {}

    /** What a part aims at. */
    public record PartAims(Part part, List<Aim> aims) {}

    /** Of these, in this order. */
    public static AimsPage of(List<PartAims> all, CodeHistory history) {
        return new AimsPage(all.stream().flatMap(AimsPage::each).toList(), history);
    }

    private static Stream<PartAim> each(PartAims of) {
        return of.aims.stream().map(aim -> new PartAim(of.part, aim));
    }

    private Stream<Aim> all() {
        return aims.stream().map(PartAim::aim);
    }

    /** For the first page: the most important aim of each part, and how many of all are missed. */
    public String measured() {
        MarkdownTable table =
                new MarkdownTable(
                        Evidence.header(List.of("part", "measure", "aim", "measured", "met?")));
        for (PartAim one : aims) {
            Aim aim = one.aim;
            if (aim.isHeadline()) {
                table.row(
                        List.of(
                                one.part.title(),
                                aim.measure(),
                                aim.goalOfMeasure(),
                                aim.measured(),
                                aim.verdict(),
                                aim.pairs(),
                                revisions(one)));
            }
        }
        return table + "\n" + sum();
    }

    private String sum() {
        return "Of %d aims, %d are measured. Fully met: %s. %d are missed in at least one setting; the [table of aims](docs/results.md#aims) has them in bold.\n"
                .formatted(
                        aims.size(),
                        all().filter(Aim::isMeasured).count(),
                        Stream.of(Part.values()).flatMap(this::met).collect(joining(", ")),
                        all().filter(Aim::isMissed).count());
    }

    /** Nothing for a part without aims. */
    private Stream<String> met(Part part) {
        List<Aim> measured =
                aims.stream()
                        .filter(one -> one.part == part)
                        .map(PartAim::aim)
                        .filter(Aim::isMeasured)
                        .toList();
        return measured.isEmpty()
                ? Stream.empty()
                : Stream.of(
                        "%d of %d for %s"
                                .formatted(
                                        measured.stream().filter(aim -> !aim.isMissed()).count(),
                                        measured.size(),
                                        part.inSentence()));
    }

    /** Those whose code has changed since are stale. */
    private String revisions(PartAim one) {
        Map<Boolean, List<String>> byStale =
                one.aim.revisions().collect(partitioningBy(of -> history.isStale(one.part, of)));
        String fresh = String.join(", ", byStale.get(false));
        String stale = String.join(", ", byStale.get(true));
        return Stream.of(fresh, stale.isEmpty() ? "" : "stale: " + stale)
                .filter(text -> !text.isEmpty())
                .reduce((first, second) -> first + "; " + second)
                .orElse(ResultsPage.MISSING);
    }

    /** One row for each aim. */
    public String table() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "measure",
                                "aim",
                                "measured",
                                "met?",
                                "pairs",
                                "revision",
                                "command"));
        for (PartAim one : aims) {
            Aim aim = one.aim;
            table.row(
                    List.of(
                            aim.measure(),
                            aim.goalOfMeasure(),
                            aim.measured(),
                            aim.verdict(),
                            aim.pairs(),
                            revisions(one),
                            "`" + aim.command() + "`"));
        }
        return table.toString();
    }
}
