package io.afterbay.doctor.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.bench.HeadlessBrowser;
import io.afterbay.doctor.Synthetic;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.InstanceName;
import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.doctor.reading.Tally;
import io.afterbay.testing.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is in the page, and what a browser makes of it. Leaves pages in {@code target/pages}. */
class DoctorPageTest {
    private static final String DATA = "<script type=\"application/json\" id=\"data\">";

    /** Four hours and a half. */
    private static final Sample LONG =
            new Sample("long", new Synthetic().rounds(2000).instances(2), false);

    @TempDir Path profile;

    private record Sample(String name, List<InstanceLog> instances, boolean hasLatency) {
        @Override
        public String toString() {
            return name;
        }

        private Report report() {
            Evidence evidence = hasLatency ? Evidence.of(latency(), gc()) : Evidence.NONE;
            return Report.of(instances, new Tally(), evidence);
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

        private static GcLog gc() {
            List<GcLog.Pause> pauses = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                long start = Synthetic.START + i * 3 * Synthetic.SECOND;
                pauses.add(new GcLog.Pause(start, start + 9 * Synthetic.MS, "Pause Young <&>"));
            }
            return GcLog.of(pauses);
        }
    }

    private static Stream<Sample> pages() {
        return Stream.of(
                new Sample("aligned", new Synthetic().stages(i -> i / 32).instances(64), true),
                new Sample("cured", new Synthetic().triggers(i -> 4 + i % 4).instances(16), true),
                new Sample(
                        "column-families",
                        new Synthetic().engine(Engine.ROCKSDB).families(6).instances(1),
                        true),
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
        assertThat(data.get("gc")).hasSize(100);
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
        log.columnFamily("f").addFlush(0, 1, "Write Buffer Full");
        assertThat(DoctorPage.of(new Sample("", List.of(log), false).report()))
                .doesNotContain("alert(1)</script>");
    }

    @Test
    void saysTheProblemInWordsThatNeedNoKnowledge() throws IOException {
        String page = DoctorPage.of(pages().findFirst().orElseThrow().report());
        assertThat(page)
                .contains(
                        "<h1>64 of 64 databases do their heavy work at the same moment, about every"
                                + " 32.0 s. Events then wait 870 ms instead of 12 ms (P99)</h1>")
                .contains("<span class=\"badge\">Aligned</span> Flink, 64 databases of 2 stages");
    }

    /**
     * As Flink's one thread makes them: no two at once, so that there is nothing to compare with.
     */
    @Test
    void spikesAreSaidWithoutCompactionsAtTheSameMoment() throws IOException {
        List<InstanceLog> instances =
                new Synthetic()
                        .compactionsOf(10 * Synthetic.MS)
                        .shifted(i -> i * 100 * Synthetic.MS)
                        .instances(8);
        String page = DoctorPage.of(new Sample("", instances, true).report());
        assertThat(page)
                .contains("one after the other, but all of it after the same checkpoint")
                .contains("Events wait up to 900 ms, in most moments 12 ms</h1>")
                .contains("the longest latency; in most moments 12 ms")
                .doesNotContain("0.0 ms");
    }

    /** Latencies rise as all flush, and compactions come a second later. */
    @Test
    void flushesThatAloneMakeEventsWaitAreNamed() throws IOException {
        double[] millis = new double[40 * 160];
        for (int window = 0; window < millis.length; window++) {
            millis[window] = window % 160 == 1 ? 100 : 12;
        }
        LatencyLog latency = LatencyLog.of(Synthetic.START, 50 * Synthetic.MS, millis);
        List<InstanceLog> instances = new ArrayList<>();
        for (InstanceLog flushed : new Synthetic().triggers(i -> 1000).instances(8)) {
            instances.add(flushed);
            for (int cycle = 1; cycle < 10; cycle++) {
                long start = Synthetic.START + cycle * 32 * Synthetic.SECOND + Synthetic.SECOND;
                flushed.columnFamily("state").addCompaction(start, start + Synthetic.SECOND / 2, 4);
            }
        }
        String named = "In most of the worst moments below, flushes alone ran";
        Report report = Report.of(instances, new Tally(), Evidence.of(latency, null));
        String page = DoctorPage.of(report);
        assertThat(page).contains(named);
        assertThat(data(page).at("/worst/0/before_ms").asDouble()).isEqualTo(100);
        assertThat(DoctorPage.of(pages().findFirst().orElseThrow().report()))
                .as("compactions do it")
                .doesNotContain(named);
    }

    /** The pointer on a compaction, after the button for the worst moment. */
    @Test
    void zoomAndHoverWork() throws Exception {
        String dom =
                documentAfter(
                        """
                        document.querySelector('[data-zoom=worst]').click();
                        const [x, y] = chart.convertToPixel({ seriesName: 'compaction' }, [data.worst[0].at_ms + 300, 7]);
                        chart.getZr().handler.dispatch('mousemove', { zrX: x, zrY: y });
                        setTimeout(() => {
                          document.documentElement.dataset.zoom = zoom[1] - zoom[0];
                          document.documentElement.dataset.tip = byId('timeline').textContent;
                        }, 500);
                        """,
                        pages().findFirst().orElseThrow());
        assertThat(dom)
                .containsPattern("data-tip=\"8/64 stage-0compaction at 24.0\\d+ s, for 900 ms\"")
                .doesNotContain("data-error=");
        Matcher width = Pattern.compile("data-zoom=\"([0-9.]+)\"").matcher(dom);
        assertThat(width.find()).isTrue();
        assertThat(Double.parseDouble(width.group(1))).isBetween(900.0, 20_000.0);
    }

    /** Four hours and a half, then ten minutes of them, then a part that has no whole seconds. */
    @Test
    void ticksOfLongLogsAreWholeHoursAndMinutes() throws Exception {
        String dom =
                documentAfter(
                        """
                        const ticks = (from, to) => {
                          chart.dispatchAction({ type: 'dataZoom', startValue: from, endValue: to });
                          const scale = chart.getModel().getComponent('xAxis', 0).axis.scale;
                          return scale.getTicks().map(({ value }) => value).filter(ms => ms > from && ms < to);
                        };
                        const seen = [ticks(1, data.span_ms - 1), ticks(3600001, 4199999), ticks(3600001, 3600999)];
                        document.documentElement.dataset.ticks = JSON.stringify(seen);
                        """,
                        LONG);
        Matcher seen = Pattern.compile("data-ticks=\"([^\"]+)\"").matcher(dom);
        assertThat(seen.find()).isTrue();
        JsonNode ticks = new ObjectMapper().readTree(seen.group(1));
        assertThat(ticks.get(0)).hasSizeBetween(3, 20).allMatch(tick -> isWhole(tick, 1_800_000));
        assertThat(ticks.get(1)).hasSizeBetween(3, 20).allMatch(tick -> isWhole(tick, 60_000));
        assertThat(ticks.get(2)).isNotEmpty();
    }

    /** In four hours there is room for one of five, in three cycles for each. */
    @Test
    void namesOfWorstMomentsDoNotOverlap() throws Exception {
        String dom =
                documentAfter(
                        """
                        const names = (from, to) => {
                          chart.dispatchAction({ type: 'dataZoom', startValue: from, endValue: to });
                          const { data: bands } = chart.getOption().series.find(({ id }) => id === 'counts').markArea;
                          return bands.filter(([{ name }]) => name).length;
                        };
                        document.documentElement.dataset.names = [names(0, data.span_ms), names(0, 96000)];
                        """,
                        LONG);
        assertThat(dom).contains("data-names=\"1,5\"");
    }

    /** What a browser makes of a page with a script of ours at its end. */
    private String documentAfter(String script, Sample sample) throws Exception {
        HeadlessBrowser browser = browser();
        String page = DoctorPage.of(sample.report());
        int end = page.lastIndexOf("</body>");
        Path file = profile.resolve("page.html");
        Files.writeString(
                file,
                page.substring(0, end) + "<script>" + script + "</script>" + page.substring(end));
        return browser.documentOf(file, profile);
    }

    private static boolean isWhole(JsonNode tick, long step) {
        return tick.asLong() % step == 0;
    }

    @ParameterizedTest
    @MethodSource("pages")
    void isDrawnWithoutErrors(Sample sample) throws Exception {
        Path page = Path.of("target", "pages", "doctor-" + sample.name + ".html").toAbsolutePath();
        Files.createDirectories(page.getParent());
        Files.writeString(page, DoctorPage.of(sample.report()));
        String dom = browser().documentOf(page, profile);
        assertThat(dom).doesNotContain("data-error=");
        assertThat(dom.contains("data-charts=\"1\"")).isEqualTo(!sample.instances.isEmpty());
    }

    private static HeadlessBrowser browser() {
        Optional<HeadlessBrowser> browser = HeadlessBrowser.find();
        Prerequisite.check(browser.isPresent(), HeadlessBrowser::missing);
        return browser.orElseThrow();
    }
}
