package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A comparison as a page for a browser. The template, the style and the scripts are resources in
 * {@code page}; the data is JSON within the page.
 */
public final class ComparisonPage {
    private ComparisonPage() {}

    /** Replaces the file, if there is one. */
    public static void write(Path file, Comparison comparison) throws IOException {
        Files.writeString(file, render(comparison));
    }

    static String render(Comparison comparison) throws IOException {
        String headline = new Verdict(comparison).headline();
        String title = "compare " + comparison.target() + ": " + headline;
        return HtmlPage.fill(
                resource("page/page.html"),
                Map.of(
                        "title", HtmlPage.escaped(title),
                        "headline", HtmlPage.escaped(headline),
                        "style", resource("page/page.css"),
                        "data", data(comparison),
                        "script", scripts()));
    }

    /** What the scripts of the page read; ours is the first backend. */
    private record PageData(
            Comparison comparison,
            List<String> backends,
            List<Column> figures,
            List<Verdict.Warning> warnings) {
        private static PageData of(Comparison comparison) {
            List<Run> runs = comparison.runs();
            List<String> backends = new ArrayList<>(List.of(Ratios.ours(runs)));
            backends.addAll(Ratios.others(runs));
            return new PageData(
                    comparison,
                    backends,
                    Arrays.stream(Figure.values()).map(Column::of).toList(),
                    new Verdict(comparison).warnings());
        }
    }

    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    private record Column(String name, String label, boolean moreIsBetter) {
        private static Column of(Figure figure) {
            return new Column(figure.jsonName(), figure.label(), figure.moreIsBetter());
        }
    }

    private static String data(Comparison comparison) {
        return HtmlPage.embedded(ComparisonJson.line(PageData.of(comparison)));
    }

    /** The last draws, with what the others declare. */
    private static String scripts() throws IOException {
        return resource("page/words.js")
                + resource("page/charts.js")
                + resource("page/timelines.js")
                + resource("page/drawing.js");
    }

    private static String resource(String name) throws IOException {
        return HtmlPage.resource(ComparisonPage.class, name);
    }
}
