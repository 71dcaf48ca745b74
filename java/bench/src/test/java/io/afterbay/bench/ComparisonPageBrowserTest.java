package io.afterbay.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Prerequisite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Draws the pages in a real browser. Leaves them in {@code target/pages} to look at. */
class ComparisonPageBrowserTest {
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
        Optional<HeadlessBrowser> browser = HeadlessBrowser.find();
        Prerequisite.check(browser.isPresent(), HeadlessBrowser::missing);
        Path page = Path.of("target", "pages", sample.name + ".html").toAbsolutePath();
        Files.createDirectories(page.getParent());
        ComparisonPage.write(page, sample.comparison);
        String dom = browser.orElseThrow().documentOf(page, profile);
        assertThat(dom)
                .contains("data-charts=\"" + sample.charts + "\"")
                .doesNotContain("data-error=");
        assertThat(dom.split("<svg ", -1)).hasSize(sample.charts + 1);
        assertThat(dom.split("<tr[ >]", -1)).hasSizeGreaterThan(sample.comparison.runs().size());
    }
}
