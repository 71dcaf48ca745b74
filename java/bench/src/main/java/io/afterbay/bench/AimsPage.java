package io.afterbay.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the project aims at, and how far it is: the newest of all that is recorded, in Markdown. It
 * measures nothing itself; each experiment says what its figures mean for its aims.
 */
final class AimsPage {
    private final List<Aim> aims;

    private AimsPage(List<Aim> aims) {
        this.aims = aims;
    }

    /**
     * Of all experiments.
     *
     * @param directory {@code bench/results}
     */
    static AimsPage of(Path directory) throws IOException {
        return new AimsPage(
                Stream.of(
                                new ResultsPage(Result.readAll(directory)).aims(),
                                new LatencyPage(LatencyPage.read(directory)).aims(),
                                new CheckpointsPage(CheckpointsPage.read(directory)).aims(),
                                new RecoveryPage(RecoveryPage.read(directory)).aims(),
                                new DesyncPage(DesyncPage.read(directory)).aims(),
                                new SparkPage(SparkPage.read(directory)).aims(),
                                new BlobPage(BlobPage.read(directory)).aims())
                        .flatMap(List::stream)
                        .toList());
    }

    /** The headlines, for the first page: from the least to the most, whatever was aimed at. */
    String measured() {
        MarkdownTable table = new MarkdownTable(List.of("measure", "measured", "aim", "command"));
        aims.stream()
                .filter(aim -> aim.isHeadline() && aim.isMeasured())
                .forEach(
                        aim ->
                                table.row(
                                        List.of(
                                                aim.measure(),
                                                aim.range(),
                                                aim.verdict(),
                                                "`" + aim.command() + "`")));
        return table + "\n" + sum();
    }

    private String sum() {
        return "Of all %d aims, %d are measured; they are met in %d of %d settings.\n"
                .formatted(
                        aims.size(),
                        aims.stream().filter(Aim::isMeasured).count(),
                        aims.stream().mapToLong(Aim::met).sum(),
                        aims.stream().mapToLong(aim -> aim.values().size()).sum());
    }

    /** One row for each aim. */
    String table() {
        MarkdownTable table =
                new MarkdownTable(List.of("measure", "aim", "measured", "met?", "command"));
        for (Aim aim : aims) {
            table.row(
                    List.of(
                            aim.measure(),
                            aim.goalOfMeasure(),
                            aim.measured(),
                            aim.verdict(),
                            "`" + aim.command() + "`"));
        }
        return table.toString();
    }
}
