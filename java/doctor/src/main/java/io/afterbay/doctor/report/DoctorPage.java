package io.afterbay.doctor.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.bench.HtmlPage;
import io.afterbay.doctor.analysis.Advice;
import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.LatencyEffect;
import io.afterbay.doctor.analysis.Overlap;
import io.afterbay.doctor.analysis.Rhythm;
import io.afterbay.doctor.analysis.Verdict;
import io.afterbay.doctor.analysis.WorstMoment;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** A report as a page for a browser; its parts are resources in {@code page}. */
public final class DoctorPage {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Report report;
    private final Diagnosis diagnosis;
    private final PageWords words;

    private DoctorPage(Report report) {
        this.report = report;
        this.diagnosis = report.diagnosis();
        this.words = new PageWords(report);
    }

    /**
     * The whole page.
     *
     * @throws IOException if a resource is missing
     */
    public static String of(Report report) throws IOException {
        return new DoctorPage(report).render();
    }

    private String render() throws IOException {
        return HtmlPage.fill(
                resource("page/page.html"),
                Map.of(
                        "subject", HtmlPage.escaped(words.subject()),
                        "badge", words.badge(),
                        "headline", HtmlPage.escaped(words.headline()),
                        "meaning", HtmlPage.escaped(words.meaning()),
                        "mood", words.mood(),
                        "unit", words.unit(),
                        "unit-is", words.unitIs(),
                        "style", resource("page/page.css"),
                        "data", HtmlPage.embedded(data()),
                        "script", resource("page/page.js") + resource("page/timeline.js")));
    }

    private static String resource(String name) throws IOException {
        return HtmlPage.resource(DoctorPage.class, name);
    }

    private String data() throws JsonProcessingException {
        ObjectNode root = MAPPER.createObjectNode();
        ArrayNode facts = root.putArray("facts");
        if (diagnosis.verdict() != Verdict.TOO_LITTLE_DATA) {
            facts(facts);
        }
        ArrayNode worst = root.putArray("worst");
        diagnosis.worst().forEach(moment -> worst(worst.addObject(), moment));
        WorstTable table = new WorstTable(diagnosis);
        ArrayNode cells = root.putArray("table");
        rows(cells, List.of(table.names()));
        rows(cells, table.rows());
        if (report.hasSeveralJobs()) {
            rows(root.putArray("jobs"), JobTable.of(report));
        }
        ArrayNode advice = root.putArray("advice");
        report.recommendation().advice().forEach(one -> advice(advice.addObject(), one));
        root.put("instances", diagnosis.instances().size());
        root.put("unit", diagnosis.unit().one()).put("units", diagnosis.unit().many());
        if (diagnosis.hasTime()) {
            root.put("from", Words.time(diagnosis.fromMicros()));
            new PageTimeline(diagnosis).write(root, report.evidence());
        }
        return MAPPER.writeValueAsString(root);
    }

    /** The figures that say it in five seconds: each big, with a line below. */
    private void facts(ArrayNode node) {
        Rhythm rhythm = diagnosis.rhythm();
        fact(
                node,
                "%d of %d"
                        .formatted(diagnosis.mostInstancesPerSlot(), diagnosis.instances().size()),
                "%s compact after the same flushes, at the worst; %d at the same moment"
                        .formatted(words.things(), diagnosis.overlap().mostInstances()));
        if (rhythm.bursts() > 0 && diagnosis.verdict() != Verdict.NOT_ALIGNED) {
            int every = Math.max(1, rhythm.everyNthBurst());
            fact(
                    node,
                    Words.micros(every * rhythm.periodMicros()),
                    "from one wave of compactions to the next; the longest took "
                            + Words.micros(rhythm.longestWaveMicros()));
        }
        diagnosis
                .latency()
                .ifPresentOrElse(effect -> latencyFact(node, effect), () -> overlapFact(node));
        report.recommendation()
                .expectedTogether()
                .ifPresent(
                        expected ->
                                cure(
                                        node,
                                        "%d → about %d"
                                                .formatted(
                                                        diagnosis.mostInstancesPerSlot(), expected),
                                        "databases at a time: what the first setting below is to make of it"));
    }

    private void latencyFact(ArrayNode node, LatencyEffect effect) {
        if (effect.togetherP99Ms() == null) {
            fact(
                    node,
                    Words.millis(effect.longestMs()),
                    "the longest latency; in most moments " + Words.millis(effect.medianMs()));
        } else {
            fact(
                    node,
                    Words.millis(effect.togetherP99Ms()),
                    "latency (P99) while several "
                            + words.things()
                            + " compact; else "
                            + Words.millis(effect.otherP99Ms()));
        }
    }

    private void overlapFact(ArrayNode node) {
        Overlap overlap = diagnosis.overlap();
        if (overlap.mostInstances() > 1) {
            fact(
                    node,
                    Words.format("%.1f others", overlap.meanOthers()),
                    Words.format(
                            "compact beside each compaction, in the mean; by chance it would be"
                                    + " %.1f",
                            overlap.meanOthersByChance()));
        } else {
            fact(
                    node,
                    Words.percent(overlap.ofFlushesWithAny()),
                    "of the time of flushes meets a compaction");
        }
    }

    private static void cure(ArrayNode node, String figure, String text) {
        node.addObject().put("figure", figure).put("text", text).put("is_cure", true);
    }

    private static void fact(ArrayNode node, String figure, String text) {
        node.addObject().put("figure", figure).put("text", text);
    }

    /** Where to draw a band; what is in the table is words already. */
    private void worst(ObjectNode node, WorstMoment moment) {
        Double latency = moment.latencyMs();
        node.put("at_ms", (moment.micros() - diagnosis.fromMicros()) / 1000.0)
                .put("before_ms", latency == null ? 0 : latency)
                .put("lasts_ms", latency == null ? moment.lastsMicros() / 1000.0 : latency)
                .put("instances", moment.instances())
                .put("latency", latency == null ? null : Words.millis(latency))
                .put("is_gc", moment.isGcPause());
    }

    private static void rows(ArrayNode node, List<List<String>> rows) {
        for (List<String> row : rows) {
            ArrayNode cells = node.addArray();
            row.forEach(cells::add);
        }
    }

    private static void advice(ObjectNode node, Advice advice) {
        node.put("reason", advice.reason())
                .put("place", advice.place())
                .put("lines", String.join("\n", advice.lines()));
    }
}
