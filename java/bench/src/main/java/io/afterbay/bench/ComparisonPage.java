package io.afterbay.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A comparison as a page for a browser: one file, which loads nothing. The template, the style and
 * the scripts are resources in {@code page}; the charts are drawn by Apache ECharts, copied from
 * its jar with its notice; the data is JSON within the page.
 */
public final class ComparisonPage {
    private static final Pattern SLOT = Pattern.compile("\\{\\{([a-z-]+)}}");
    private static final String WEBJAR = "/META-INF/maven/org.webjars/echarts/pom.properties";

    private ComparisonPage() {}

    /** Replaces the file, if there is one. */
    public static void write(Path file, Comparison comparison) throws IOException {
        Files.writeString(file, render(comparison));
    }

    static String render(Comparison comparison) throws IOException {
        String headline = new Verdict(comparison).headline();
        String version = echartsVersion();
        return fill(
                resource("page/page.html"),
                Map.of(
                        "title", escaped("compare " + comparison.target() + ": " + headline),
                        "headline", escaped(headline),
                        "style", resource("page/page.css"),
                        "data", data(comparison),
                        "echarts-version", version,
                        "echarts", echarts(version),
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

    /** The JSON, such that it cannot end the element that it stands in. */
    private static String data(Comparison comparison) {
        return ComparisonJson.line(PageData.of(comparison))
                .replace("<", "\\u003c")
                .replace(">", "\\u003e")
                .replace("&", "\\u0026");
    }

    /** In one pass, so that what is filled in is not searched for slots. */
    private static String fill(String template, Map<String, String> parts) {
        return SLOT.matcher(template)
                .replaceAll(slot -> Matcher.quoteReplacement(part(parts, slot)));
    }

    private static String part(Map<String, String> parts, MatchResult slot) {
        String part = parts.get(slot.group(1));
        if (part == null) {
            throw new IllegalStateException("page.html has an unknown slot " + slot.group());
        }
        return part;
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** The last draws, with what the others declare. */
    private static String scripts() throws IOException {
        return resource("page/words.js")
                + resource("page/charts.js")
                + resource("page/timelines.js")
                + resource("page/drawing.js");
    }

    private static String echarts(String version) throws IOException {
        return resource("/META-INF/resources/webjars/echarts/" + version + "/echarts.min.js");
    }

    private static String echartsVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = open(WEBJAR)) {
            properties.load(in);
        }
        return properties.getProperty("version");
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = open(name)) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private static InputStream open(String name) throws IOException {
        InputStream in = ComparisonPage.class.getResourceAsStream(name);
        if (in == null) {
            throw new FileNotFoundException(
                    name + " is not on the class path; build Afterbay again");
        }
        return in;
    }
}
