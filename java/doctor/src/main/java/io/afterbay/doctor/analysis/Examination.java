package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.Intervals;
import io.afterbay.doctor.reading.NaturalOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** The way from logs to a diagnosis. */
final class Examination {
    private static final String NO_VARIATION =
            "too few pairs of %s compact now and then, so nothing can be compared";

    /** Below 1, whose logarithm of the rest is not finite. */
    private static final double ALWAYS = 1 - 1e-9;

    private final List<InstanceLog> instances;
    private final Unit unit;
    private final List<ColumnFamilyLog> families;
    private final Evidence evidence;
    private final Intervals allFlushes = new Intervals();
    private final Intervals allCompactions = new Intervals();
    private final List<Intervals> compactionsOfInstances = new ArrayList<>();
    private final Steps flushes;
    private final Steps compactions;
    private final Steps compacting;
    private final Bursts bursts;
    private final Slots slots;
    private final Alignment alignment;
    private final long first;
    private final long last;

    Examination(List<InstanceLog> instances, Evidence evidence) {
        this.instances = instances;
        this.evidence = evidence;
        this.unit = Unit.of(instances);
        this.families = familiesWithEvents(instances);
        families.forEach(family -> allFlushes.addAll(family.flushes()));
        families.forEach(family -> allCompactions.addAll(family.compactions()));
        instances.forEach(instance -> compactionsOfInstances.add(instance.compactions()));
        flushes = Steps.of(allFlushes);
        compactions = Steps.of(allCompactions);
        compacting = Steps.ofEach(compactionsOfInstances);
        bursts = Bursts.find(families);
        slots = Slots.of(bursts, families);
        alignment = Alignment.of(families, slots);
        Intervals known = known();
        first = firstOf(known);
        last = lastOf(known);
    }

    /** What has a time: work of which begin and end are known; without any, stalls. */
    private Intervals known() {
        Intervals known = new Intervals();
        known.addAll(allFlushes);
        known.addAll(allCompactions);
        if (known.isEmpty()) {
            instances.forEach(instance -> known.addAll(instance.stalls()));
        }
        return known;
    }

    private static List<ColumnFamilyLog> familiesWithEvents(List<InstanceLog> instances) {
        return instances.stream()
                .flatMap(instance -> instance.columnFamilies().stream())
                .filter(ColumnFamilyLog::hasEvents)
                .toList();
    }

    Diagnosis diagnose() {
        OptionalDouble within = alignment.withinStages();
        OptionalDouble across = alignment.acrossStages();
        String lack = lack();
        Verdict verdict = Verdict.of(lack.isEmpty(), within, across);
        return new Diagnosis(
                engine(),
                instances,
                families.size(),
                first,
                last,
                versions(),
                Durations.of(allFlushes),
                Durations.of(allCompactions),
                stages(),
                overlap(),
                rhythm(),
                within,
                across,
                mostInstancesPerSlot(),
                Triggers.of(families),
                instances.stream().mapToInt(instance -> instance.stalls().size()).sum(),
                verdict,
                verdict == Verdict.TOO_LITTLE_DATA && lack.isEmpty()
                        ? NO_VARIATION.formatted(unit.many())
                        : lack,
                WorstMoments.find(slots, flushes, compactions, compacting, evidence),
                gcPauses(),
                latencyEffect());
    }

    /** Why nothing can be said, in words; empty if there is enough. */
    private String lack() {
        if (families.isEmpty()) {
            return "there is no flush and no compaction in the logs";
        }
        long comparable =
                families.stream()
                        .filter(f -> f.compactions().size() >= Verdict.MIN_COMPACTIONS)
                        .map(ColumnFamilyLog::instance)
                        .distinct()
                        .count();
        if (comparable < Verdict.MIN_INSTANCES) {
            return "%s compacted %d times or more, %d are needed"
                    .formatted(
                            unit.count(comparable), Verdict.MIN_COMPACTIONS, Verdict.MIN_INSTANCES);
        }
        if (slots.size() < Verdict.MIN_SLOTS) {
            return "the logs have %d rounds of flushes, %d are needed"
                    .formatted(slots.size(), Verdict.MIN_SLOTS);
        }
        return "";
    }

    private Engine engine() {
        return instances.stream()
                .map(instance -> instance.name().engine())
                .min(Engine::compareTo)
                .orElse(Engine.ROCKSDB);
    }

    private List<String> versions() {
        return instances.stream()
                .map(InstanceLog::version)
                .filter(Objects::nonNull)
                .distinct()
                .sorted(NaturalOrder.NAMES)
                .toList();
    }

    private static long firstOf(Intervals intervals) {
        return Arrays.stream(intervals.sortedStarts()).findFirst().orElse(0);
    }

    private static long lastOf(Intervals intervals) {
        long[] ends = intervals.sortedEnds();
        return ends.length == 0 ? 0 : ends[ends.length - 1];
    }

    private List<StageReport> stages() {
        Set<String> names = new TreeSet<>();
        instances.forEach(instance -> names.add(instance.name().stage()));
        return names.stream().map(this::stage).toList();
    }

    private StageReport stage(String name) {
        Intervals flushesOfStage = new Intervals();
        Intervals compactionsOfStage = new Intervals();
        int count = 0;
        for (InstanceLog instance : instances) {
            if (instance.name().stage().equals(name)) {
                flushesOfStage.addAll(instance.flushes());
                compactionsOfStage.addAll(instance.compactions());
                count++;
            }
        }
        return new StageReport(
                name,
                count,
                Durations.of(flushesOfStage),
                Durations.of(compactionsOfStage),
                alignment.within(name));
    }

    private Overlap overlap() {
        double[] parts = parts();
        return new Overlap(
                compactions.workWhile(compacting, 2),
                overlappedByChance(parts),
                compacting.meanOthers(),
                othersByChance(parts),
                flushes.workWhile(compacting, 2),
                flushes.workWhile(compacting, 1),
                compactions.most(),
                compacting.most(),
                flushes.most());
    }

    /** The part of time in which each instance compacts. */
    private double[] parts() {
        double span = Math.max(1, last - first);
        return compactionsOfInstances.stream()
                .mapToDouble(own -> Math.min(ALWAYS, Steps.of(own.union()).work() / span))
                .toArray();
    }

    private static double overlappedByChance(double[] parts) {
        double nobody = Arrays.stream(parts).map(part -> Math.log1p(-part)).sum();
        double overlapped = 0;
        for (double part : parts) {
            overlapped += part * -Math.expm1(nobody - Math.log1p(-part));
        }
        return overlapped == 0 ? 0 : overlapped / Arrays.stream(parts).sum();
    }

    private static double othersByChance(double[] parts) {
        double all = Arrays.stream(parts).sum();
        double squares = Arrays.stream(parts).map(part -> part * part).sum();
        return all == 0 ? 0 : (all * all - squares) / all;
    }

    private Rhythm rhythm() {
        if (!bursts.exist()) {
            return new Rhythm(0, 0, 0, 0, 0, 0, longestWave(), slots.size());
        }
        return new Rhythm(
                bursts.size(),
                bursts.periodMicros(),
                bursts.lengthMicros(),
                burstsWith(1),
                burstsWith(2),
                everyNthBurst(),
                longestWave(),
                slots.size());
    }

    private long longestWave() {
        return IntStream.range(0, slots.size())
                .mapToLong(slot -> compacting.timeAtLeast(1, slots.start(slot), slots.end(slot)))
                .max()
                .orElse(0);
    }

    private int burstsWith(int compactingInstances) {
        int count = 0;
        for (int burst = 0; burst < bursts.size(); burst++) {
            int most = compacting.mostIn(bursts.start(burst), bursts.end(burst));
            count += most >= compactingInstances ? 1 : 0;
        }
        return count;
    }

    private int everyNthBurst() {
        long[] distances =
                families.stream()
                        .map(family -> slots.slotsWithStart(family.compactions()))
                        .flatMapToLong(Examination::distances)
                        .sorted()
                        .toArray();
        return (int) Sorted.percentile(distances, 0.5);
    }

    private static LongStream distances(int[] places) {
        return IntStream.range(1, places.length).mapToLong(i -> places[i] - places[i - 1]);
    }

    private int mostInstancesPerSlot() {
        int[] counts = new int[slots.size()];
        for (Intervals own : compactionsOfInstances) {
            for (int slot : slots.slotsWithStart(own)) {
                counts[slot]++;
            }
        }
        return Arrays.stream(counts).max().orElse(0);
    }

    private Optional<Durations> gcPauses() {
        return evidence.gc()
                .map(this::pausesWithin)
                .filter(pauses -> !pauses.isEmpty())
                .map(Durations::of);
    }

    private Intervals pausesWithin(GcLog log) {
        Intervals result = new Intervals();
        for (GcLog.Pause pause : log.pauses()) {
            if (pause.endMicros() >= first && pause.startMicros() < last) {
                result.add(pause.startMicros(), pause.endMicros());
            }
        }
        return result;
    }

    private Optional<LatencyEffect> latencyEffect() {
        Optional<Steps> pauses = evidence.gc().map(GcLog::intervals).map(Steps::of);
        return evidence.latency()
                .flatMap(
                        log ->
                                LatencyAnalysis.of(
                                        log, pauses, compactions, compacting, bursts, first, last));
    }
}
