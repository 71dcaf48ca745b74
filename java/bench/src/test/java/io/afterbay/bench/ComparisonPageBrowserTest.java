package io.afterbay.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Draws the pages in a real browser. Leaves them in {@code target/pages} to look at. */
class ComparisonPageBrowserTest {
    private static final List<String> BROWSERS =
            List.of("chromium", "chromium-browser", "google-chrome", "chrome");

    @TempDir Path profile;

    private static Stream<Sample> pages() {
        return Stream.of(
                new Sample("good", Samples.good(), 7),
                new Sample("behind", Samples.behind(), 7),
                new Sample("out-of-memory", Samples.outOfMemory(), 7),
                new Sample("outputs-differ", Samples.outputsDiffer(), 7),
                new Sample("quick", Samples.quick(), 7),
                new Sample("foreign-job", Samples.foreignJob(), 6),
                new Sample("all-failed", Samples.allFailed(), 0));
    }

    /** What to see: as many charts as there are figures for. */
    private record Sample(String name, Comparison comparison, int charts) {
        @Override
        public String toString() {
            return name;
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void drawsAllChartsWithoutErrors(Sample sample) throws Exception {
        String browser = browser();
        assumeTrue(browser != null, () -> "none of " + BROWSERS + " is on the PATH");
        Path page = Path.of("target", "pages", sample.name + ".html").toAbsolutePath();
        Files.createDirectories(page.getParent());
        ComparisonPage.write(page, sample.comparison);
        String dom = dom(browser, page);
        assertThat(dom)
                .contains("data-charts=\"" + sample.charts + "\"")
                .doesNotContain("data-error=");
        assertThat(dom.split("<svg ", -1)).hasSize(sample.charts + 1);
        assertThat(dom.split("<tr[ >]", -1)).hasSizeGreaterThan(sample.comparison.runs().size());
    }

    private String dom(String browser, Path page) throws IOException, InterruptedException {
        Path dom = profile.resolve("dom.html");
        Process process =
                new ProcessBuilder(
                                browser,
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--user-data-dir=" + profile.resolve("profile"),
                                "--virtual-time-budget=10000",
                                "--dump-dom",
                                page.toUri().toString())
                        .redirectOutput(dom.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        assertThat(process.waitFor()).isZero();
        return Files.readString(dom, UTF_8);
    }

    private static String browser() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(directory -> BROWSERS.stream().map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(null);
    }
}
