package io.afterbay.experiments.desync;

import io.afterbay.bench.Numbers;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** What a cure and the default have in common. */
record DesyncPlace(
        String engine,
        int subtasks,
        long intervalMs,
        int payloadBytes,
        int history,
        int work,
        int threads,
        String storage,
        int load,
        @Nullable Integer vocabulary) {
    static final Comparator<DesyncPlace> ORDER =
            Comparator.comparing(DesyncPlace::isOnKafka)
                    .thenComparing(DesyncPlace::engine)
                    .thenComparing(DesyncPlace::storage)
                    .thenComparing(DesyncPlace::subtasks)
                    .thenComparing(DesyncPlace::intervalMs)
                    .thenComparing(DesyncPlace::payloadBytes)
                    .thenComparing(DesyncPlace::history)
                    .thenComparing(DesyncPlace::work)
                    .thenComparing(DesyncPlace::threads)
                    .thenComparing(DesyncPlace::load);

    static DesyncPlace of(DesyncTrial.Setting of) {
        return new DesyncPlace(
                of.backend(),
                of.subtasks(),
                of.intervalMs(),
                of.payloadBytes(),
                of.history(),
                of.work(),
                of.threads(),
                of.storage(),
                of.loadPercent(),
                of.vocabulary());
    }

    private boolean isOnKafka() {
        return vocabulary != null;
    }

    String text() {
        return vocabulary == null ? onFlink() : onKafka(vocabulary);
    }

    private String onKafka(int words) {
        return "%s, %d partitions, commits every %s, %s, %,d words, %d %% load"
                .formatted(engine, subtasks, Numbers.duration(intervalMs), storage, words, load);
    }

    private String onFlink() {
        return "%d subtasks, checkpoints every %s, %d threads, %s, %d B x %d, work %d, %d %% load"
                .formatted(
                        subtasks,
                        Numbers.duration(intervalMs),
                        threads,
                        storage,
                        payloadBytes,
                        history,
                        work,
                        load);
    }
}
