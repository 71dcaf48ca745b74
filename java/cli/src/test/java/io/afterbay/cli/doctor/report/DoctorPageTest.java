package io.afterbay.cli.doctor.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.doctor.Synthetic;
import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.reading.Engine;
import io.afterbay.cli.doctor.reading.InstanceLog;
import io.afterbay.cli.doctor.reading.InstanceName;
import io.afterbay.cli.doctor.reading.LatencyLog;
import io.afterbay.cli.doctor.reading.Tally;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is in the page, and what a browser makes of it. Leaves pages in {@code target/pages}. */
class DoctorPageTest {
    private static final List<String> BROWSERS =
            List.of("chromium", "chromium-browser", "google-chrome", "chrome");
    private static final String DATA = "<script type=\"application/json\" id=\"data\">";

    @TempDir Path profile;

    private record Sample(String name, List<InstanceLog> instances, boolean hasLatency) {
        @Override
        public String toString() {
            return name;
        }

        private Report report() {
            LatencyLog latency = hasLatency ? latency() : null;
            return Report.of(Diagnosis.of(instances, latency), new Tally(), latency);
        }

        /** 40 checkpoints, with a bad second after each fourth. */
        private static LatencyLog latency() {
            double[] millis = new double[40 * 160];
            for (int window = 0; window < millis.length; window++) {
                int inCycle = window % 640 - 480;
                millis[window] = inCycle >= 0 && inCycle < 25 ? 900 - 30 * inCycle : 12;
            }
            return LatencyLog.of(Synthetic.START, 50 * Synthetic.MS, millis);
        }
    }

    private static Stream<Sample> pages() {
        return Stream.of(
                new Sample("aligned", new Synthetic().stages(i -> i / 32).instances(64), true),
                new Sample("cured", new Synthetic().triggers(i -> 4 + i % 4).instances(16), true),
                new Sample("large", new Synthetic().rounds(2000).instances(300), false),
                new Sample("little", new Synthetic().rounds(3).instances(2), false),
                new Sample("empty", List.of(), false));
    }

    private static JsonNode data(String page) throws IOException {
        int from = page.indexOf(DATA) + DATA.length();
        return new ObjectMapper().readTree(page.substring(from, page.indexOf("</script>", from)));
    }

    @Test
    void holdsEverythingOfAFewInstances() throws IOException {
        JsonNode data = data(DoctorPage.of(pages().findFirst().orElseThrow().report()));
        assertThat(data.get("lanes")).hasSize(64);
        assertThat(data.get("flushes")).hasSize(64 * 40);
        assertThat(data.get("compactions")).hasSize(64 * 10);
        assertThat(data.get("worst")).hasSize(5);
        assertThat(data.get("latency")).hasSizeGreaterThan(3000);
        double shown = data.at("/zoom_ms/1").asDouble() - data.at("/zoom_ms/0").asDouble();
        assertThat(shown).as("three cycles of four checkpoints").isEqualTo(3 * 32_000.0);
    }

    @Test
    void isBounded() throws IOException {
        List<InstanceLog> instances = new Synthetic().rounds(3000).instances(300);
        String page = DoctorPage.of(new Sample("", instances, false).report());
        JsonNode data = data(page);
        assertThat(data.get("lanes").size()).isBetween(80, PageTimeline.LANES_MAX);
        assertThat(data.get("counts").size()).isLessThanOrEqualTo(3 * PageTimeline.POINTS_MAX);
        assertThat(data.get("flushes").size() + data.get("compactions").size())
                .isLessThanOrEqualTo(PageTimeline.BLOCKS_MAX);
        double from = data.at("/lanes_ms/0").asDouble();
        double to = data.at("/lanes_ms/1").asDouble();
        assertThat(data.at("/worst/0/at_ms").asDouble()).isBetween(from, to);
        assertThat(data.at("/zoom_ms/0").asDouble()).isGreaterThanOrEqualTo(from);
        assertThat(data.at("/zoom_ms/1").asDouble()).isLessThanOrEqualTo(to);
        assertThat(page.length()).isLessThan(3_000_000);
    }

    /** Names come from files, so they may be anything. */
    @Test
    void namesCannotBecomeMarkup() throws IOException {
        String name = "</script><script>alert(1)</script>";
        InstanceLog log = new InstanceLog(new InstanceName(Engine.ROCKSDB, name, name, "k"));
        log.columnFamily("f").addFlush(0, 1, false);
        assertThat(DoctorPage.of(new Sample("", List.of(log), false).report()))
                .doesNotContain("alert(1)</script>");
    }

    @ParameterizedTest
    @MethodSource("pages")
    void isDrawnWithoutErrors(Sample sample) throws Exception {
        String browser = browser();
        Path page = Path.of("target", "pages", "doctor-" + sample.name + ".html").toAbsolutePath();
        Files.createDirectories(page.getParent());
        Files.writeString(page, DoctorPage.of(sample.report()));
        assumeTrue(browser != null, () -> "none of " + BROWSERS + " is on the PATH");
        String dom = dom(browser, page);
        assertThat(dom).doesNotContain("data-error=");
        assertThat(dom.contains("data-charts=\"1\"")).isEqualTo(!sample.instances.isEmpty());
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
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(directory -> BROWSERS.stream().map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(null);
    }
}
