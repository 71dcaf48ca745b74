package io.afterbay.cli;

import io.afterbay.bench.DesyncTrial;
import io.afterbay.workloads.run.WorkloadException;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * One run of the traffic-jam job on RocksDB: as fast as possible, or at a rate.
 *
 * @param setting what makes it differ from others
 * @param ratePerS events per second of the open loop; 0 as long as nobody knows it
 * @param warmUpMs how long the job runs before anything is counted
 * @param events of the closed loop
 * @param openMs length of the open loop
 * @param keep where to leave logs, latencies and the doctor's page; null for nowhere
 */
record DesyncPlan(
        DesyncTrial.Setting setting,
        double ratePerS,
        long warmUpMs,
        long events,
        long openMs,
        @Nullable String keep)
        implements TrialPlan {
    private static final String ROCKSDB = "state.backend.rocksdb.";

    /** The same at a rate that is known now. */
    DesyncPlan at(double eventsPerS) {
        return new DesyncPlan(setting, eventsPerS, warmUpMs, events, openMs, keep);
    }

    boolean isOpenLoop() {
        return setting.loadPercent() > 0;
    }

    @Override
    public String backend() {
        return setting.backend();
    }

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public void configure(EngineArguments engine, CommandLine command) {
        engine.parallelism = setting.subtasks();
        engine.checkpointInterval = Duration.ofMillis(setting.intervalMs());
    }

    /**
     * Options of Flink.
     *
     * @param databases directory for RocksDB's own
     * @param logs directory for its logs
     */
    Map<String, String> settings(Path databases, Path logs) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put(ROCKSDB + "localdir", databases.toString());
        settings.put(ROCKSDB + "log.level", "INFO_LEVEL");
        settings.put(ROCKSDB + "log.dir", logs.toString());
        settings.put(ROCKSDB + "thread.num", Integer.toString(setting.threads()));
        settings.putAll(DesyncCure.named(setting.cure()).settings());
        return settings;
    }

    TrafficJamTarget target() throws WorkloadException {
        TrafficJamTarget city =
                TrafficJamTarget.of(
                        new TrafficJamOptions(
                                Installation.cityTrace().toString(),
                                null,
                                null,
                                setting.payloadBytes(),
                                1,
                                0,
                                1,
                                Long.MAX_VALUE,
                                0,
                                "desync"));
        return new TrafficJamTarget(city.options(), events == 0 ? city.events() : events);
    }

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%d subtasks, checkpoints every %d ms, %d threads, %s, %s, pair %d",
                setting.subtasks(),
                setting.intervalMs(),
                setting.threads(),
                setting.cure(),
                isOpenLoop() ? setting.loadPercent() + " %" : "full speed",
                setting.pair());
    }

    /** The run without figures. */
    DesyncTrial trial() {
        return DesyncTrial.none(setting);
    }
}
