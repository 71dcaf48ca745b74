package io.afterbay.doctor.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.doctor.analysis.Advice;
import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.Durations;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.LatencyEffect;
import io.afterbay.doctor.analysis.Overlap;
import io.afterbay.doctor.analysis.Recommendation;
import io.afterbay.doctor.analysis.Rhythm;
import io.afterbay.doctor.analysis.StageReport;
import io.afterbay.doctor.analysis.Triggers;
import io.afterbay.doctor.analysis.WorstMoment;
import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.Tally;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A report for programs. Units are last in names, times are microseconds since 1970; what is not
 * known is null. The names are documented in docs/doctor.md, and stay.
 */
public final class DoctorJson {
    private static final int FORMAT = 1;
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private DoctorJson() {}

    public static String of(Report report) {
        Diagnosis diagnosis = report.diagnosis();
        ObjectNode root = MAPPER.createObjectNode();
        root.put("format", FORMAT);
        root.put("verdict", name(diagnosis.verdict()));
        root.put("headline", Headline.of(report));
        root.put("engine", name(diagnosis.engine()));
        ArrayNode versions = root.putArray("rocksdb_versions");
        diagnosis.versions().forEach(versions::add);
        root.put("from_us", diagnosis.hasTime() ? diagnosis.fromMicros() : null);
        root.put("to_us", diagnosis.hasTime() ? diagnosis.toMicros() : null);
        root.put("unit", name(diagnosis.unit()));
        root.put("instance_count", diagnosis.instances().size());
        root.put("column_family_count", diagnosis.columnFamilies());
        durations(root.putObject("flushes"), diagnosis.flushes());
        durations(root.putObject("compactions"), diagnosis.compactions());
        alignment(root.putObject("alignment"), diagnosis);
        overlap(root.putObject("overlap"), diagnosis.overlap());
        rhythm(root.putObject("bursts"), diagnosis.rhythm());
        triggers(root.putObject("triggers"), diagnosis.triggers());
        root.put("stalls", diagnosis.stalls());
        ArrayNode worst = root.putArray("worst_moments");
        diagnosis.worst().forEach(moment -> moment(worst.addObject(), moment));
        diagnosis
                .gcPauses()
                .ifPresentOrElse(
                        pauses -> gc(root.putObject("gc"), pauses, report),
                        () -> root.putNull("gc"));
        diagnosis
                .latency()
                .ifPresentOrElse(
                        effect -> latency(root.putObject("latency"), effect, report),
                        () -> root.putNull("latency"));
        recommendation(root.putObject("recommendation"), report);
        ArrayNode jobs = root.putArray("jobs");
        report.jobs().forEach(job -> job(jobs.addObject(), job));
        ArrayNode stages = root.putArray("stages");
        diagnosis.stages().forEach(stage -> stage(stages.addObject(), stage));
        ArrayNode instances = root.putArray("instances");
        diagnosis.instances().forEach(instance -> instance(instances.addObject(), instance));
        tally(root.putObject("read"), report.tally());
        return text(root);
    }

    private static String text(ObjectNode root) {
        try {
            return MAPPER.writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // a tree can be written
        }
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static void put(ObjectNode node, String name, OptionalDouble value) {
        if (value.isPresent()) {
            node.put(name, value.getAsDouble());
        } else {
            node.putNull(name);
        }
    }

    private static void put(ObjectNode node, String name, OptionalInt value) {
        if (value.isPresent()) {
            node.put(name, value.getAsInt());
        } else {
            node.putNull(name);
        }
    }

    private static void durations(ObjectNode node, Durations durations) {
        node.put("count", durations.count())
                .put("median_ms", durations.medianMs())
                .put("p99_ms", durations.p99Ms())
                .put("longest_ms", durations.longestMs());
    }

    private static void alignment(ObjectNode node, Diagnosis diagnosis) {
        put(node, "scheduled", diagnosis.withinStages());
        put(node, "statistical", diagnosis.acrossStages());
        node.put("most_instances_per_burst", diagnosis.mostInstancesPerSlot());
        node.put("lack", diagnosis.lack().isEmpty() ? null : diagnosis.lack());
    }

    private static void overlap(ObjectNode node, Overlap overlap) {
        node.put("of_compactions", overlap.ofCompactions())
                .put("of_compactions_by_chance", overlap.ofCompactionsByChance())
                .put("mean_others", overlap.meanOthers())
                .put("mean_others_by_chance", overlap.meanOthersByChance())
                .put("of_flushes", overlap.ofFlushes())
                .put("of_flushes_with_any", overlap.ofFlushesWithAny())
                .put("most_compactions", overlap.mostCompactions())
                .put("most_instances", overlap.mostInstances())
                .put("most_flushes", overlap.mostFlushes());
    }

    private static void rhythm(ObjectNode node, Rhythm rhythm) {
        node.put("count", rhythm.bursts())
                .put("period_ms", rhythm.periodMicros() / 1000.0)
                .put("length_p90_ms", rhythm.burstMicros() / 1000.0)
                .put("with_compactions", rhythm.burstsWithCompactions())
                .put("with_several_instances_compacting", rhythm.burstsWithSeveral())
                .put("compaction_every", rhythm.everyNthBurst())
                .put("longest_wave_ms", rhythm.longestWaveMicros() / 1000.0)
                .put("slots", rhythm.slots());
    }

    private static void triggers(ObjectNode node, Triggers triggers) {
        node.put("differ", triggers.differ());
        ObjectNode stages = node.putObject("column_families_by_stage_and_trigger");
        triggers.byStage()
                .forEach(
                        (stage, counts) -> {
                            ObjectNode one = stages.putObject(stage);
                            counts.forEach((trigger, count) -> one.put("" + trigger, count));
                        });
    }

    private static void moment(ObjectNode node, WorstMoment moment) {
        node.put("at_us", moment.micros())
                .put("compactions", moment.compactions())
                .put("instances", moment.instances())
                .put("flushes", moment.flushes())
                .put("compacting_ms", moment.lastsMicros() / 1000.0)
                .put("latency_ms", moment.latencyMs())
                .put("gc_pause_ms", moment.gcPauseMs())
                .put("cpu", moment.cpu())
                .put("queue", moment.queue())
                .put("is_gc_pause", moment.isGcPause());
    }

    private static void gc(ObjectNode node, Durations pauses, Report report) {
        durations(node, pauses);
        report.evidence()
                .gc()
                .ifPresent(
                        log ->
                                node.put("times_are_approximate", log.isApproximate())
                                        .put("foreign_lines", log.foreignLines()));
    }

    private static void latency(ObjectNode node, LatencyEffect effect, Report report) {
        report.evidence()
                .latency()
                .ifPresent(
                        log ->
                                node.put("of_windows", log.what().toLowerCase(Locale.ROOT))
                                        .put("damaged_lines", log.damagedLines()));
        node.put("windows", effect.windows())
                .put("window_ms", effect.windowMicros() / 1000.0)
                .put("median_ms", effect.medianMs())
                .put("longest_ms", effect.longestMs())
                .put("together_p99_ms", effect.togetherP99Ms())
                .put("otherwise_p99_ms", effect.otherP99Ms())
                .put("settle_p90_ms", effect.settleMicros() / 1000.0)
                .put("slow_above_ms", effect.slow().limitMs())
                .put("slow_windows", effect.slow().count())
                .put("slow_windows_together", effect.slow().together())
                .put("slow_windows_in_gc_pauses", effect.slow().inGcPauses())
                .put("threads_verdict", name(effect.threads().verdict()))
                .put("threads", effect.threads().limit());
    }

    private static void recommendation(ObjectNode node, Report report) {
        node.put("delay_ms", report.recommendation().delayMicros() / 1000.0);
        node.put("hold_ms", report.recommendation().holdMicros() / 1000.0);
        put(node, "expected_instances_per_burst", report.recommendation().expectedTogether());
        ArrayNode advice = node.putArray("advice");
        for (Advice one : report.recommendation().advice()) {
            ObjectNode next = advice.addObject();
            next.put("name", one.name()).put("reason", one.reason()).put("place", one.place());
            ArrayNode lines = next.putArray("lines");
            one.lines().forEach(lines::add);
        }
    }

    private static void job(ObjectNode node, JobReport job) {
        Diagnosis diagnosis = job.diagnosis();
        Recommendation recommendation = Recommendation.of(diagnosis);
        node.put("job", job.origin().job())
                .put("worker", job.origin().worker())
                .put("verdict", name(diagnosis.verdict()))
                .put("headline", Headline.of(diagnosis))
                .put("engine", name(diagnosis.engine()))
                .put("instance_count", diagnosis.instances().size())
                .put("worker_instance_count", job.workerInstances())
                .put("worker_most_instances", job.workerAtOnce())
                .put("delay_ms", recommendation.delayMicros() / 1000.0)
                .put("hold_ms", recommendation.holdMicros() / 1000.0);
        alignment(node.putObject("alignment"), diagnosis);
        rhythm(node.putObject("bursts"), diagnosis.rhythm());
    }

    private static void stage(ObjectNode node, StageReport stage) {
        node.put("name", stage.name()).put("instance_count", stage.instances());
        put(node, "alignment", stage.alignment());
        durations(node.putObject("flushes"), stage.flushes());
        durations(node.putObject("compactions"), stage.compactions());
    }

    private static void instance(ObjectNode node, InstanceLog log) {
        node.put("stage", log.name().stage())
                .put("instance", log.name().instance())
                .put("rocksdb_version", log.version())
                .put("stalls", log.stalls().size());
        ObjectNode options = node.putObject("options");
        DoctorOptions.of(log).forEach(options::put);
        ArrayNode families = node.putArray("column_families");
        for (ColumnFamilyLog family : log.columnFamilies()) {
            ObjectNode one = families.addObject();
            one.put("name", family.name());
            put(one, "trigger", Triggers.of(family));
            durations(one.putObject("flushes"), Durations.of(family.flushes()));
            durations(one.putObject("compactions"), Durations.of(family.compactions()));
        }
    }

    private static void tally(ObjectNode node, Tally tally) {
        node.put("files", tally.files())
                .put("bytes", tally.bytes())
                .put("lines", tally.lines())
                .put("events", tally.events())
                .put("half_written_lines", tally.damagedLines())
                .put("over_long_lines", tally.cutLines())
                .put("foreign_lines", tally.foreignLines())
                .put("ends_without_start", tally.endsWithoutStart())
                .put("starts_without_end", tally.startsWithoutEnd());
        ArrayNode empty = node.putArray("files_without_events");
        tally.withoutEvents().forEach(empty::add);
        ArrayNode unreadable = node.putArray("unreadable");
        for (Tally.Unreadable one : tally.unreadable()) {
            unreadable.addObject().put("path", one.path()).put("reason", one.reason());
        }
    }
}
