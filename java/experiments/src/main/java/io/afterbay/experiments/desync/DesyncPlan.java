package io.afterbay.experiments.desync;

import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.TrafficJamTarget;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import io.afterbay.experiments.TrialPlan;
import io.afterbay.workloads.run.WorkloadException;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run of the traffic-jam job, or of word count on Kafka Streams, on RocksDB: as fast as
 * possible, or at a rate.
 *
 * @param setting what makes it differ from others
 * @param ratePerS events per second of the open loop; 0 as long as nobody knows it
 * @param warmUpMs how long the job runs before anything is counted
 * @param attemptMs length of an attempt of the run that seeks the rate
 * @param targetBusy share of the processors' time that the rate is to take, above 0 to 1
 * @param openMs length of the open loop
 * @param keep where to leave logs, latencies and the doctor's page; null for nowhere
 */
record DesyncPlan(
        DesyncTrial.Setting setting,
        double ratePerS,
        long warmUpMs,
        long attemptMs,
        double targetBusy,
        long openMs,
        @Nullable String keep)
        implements TrialPlan {
    private static final String ROCKSDB = "state.backend.rocksdb.";

    /**
     * So large that no memtable is full before the next checkpoint, and outside of Flink's managed
     * memory, whose limit for all instances together flushes them at other times: in the paper, it
     * is checkpoints that flush.
     */
    private static final String WRITE_BUFFER = "512mb";

    /**
     * Between Flink's 100 ms, which would be most of each latency, and the 5 ms of other open
     * loops, with which the flushers of 129 tasks take more of two processors than their state
     * does.
     */
    private static final String BUFFER_TIMEOUT = "20 ms";

    private static final int RAMP_UP_OF_ATTEMPT = 3;

    /** Of the process, so that 64 subtasks have their network buffers beside all else. */
    private static final ByteSize ENOUGH = ByteSize.parse("4g");

    /** The same at a rate that is known now. */
    DesyncPlan at(double eventsPerS) {
        return new DesyncPlan(setting, eventsPerS, warmUpMs, attemptMs, targetBusy, openMs, keep);
    }

    boolean isOpenLoop() {
        return !setting.isOfRate();
    }

    DesyncEngine engine() {
        return setting.vocabulary() == null
                ? DesyncEngine.FLINK
                : DesyncEngine.named(setting.backend());
    }

    /** What is set beside a value of a sweep. */
    DesyncCure cure() {
        return isOpenLoop() && setting.value() == null
                ? DesyncCure.named(setting.cure())
                : DesyncCure.DEFAULT;
    }

    /** Of word count. */
    int vocabulary() {
        return Objects.requireNonNull(setting.vocabulary(), "only with Kafka Streams");
    }

    /** Where Kafka Streams runs, in a process of its own, it is of no meaning. */
    @Override
    public String backend() {
        return cure().backend().name();
    }

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public EngineOptions engine(EngineOptions given) {
        return engine().isKafka()
                ? given
                : given.withParallelism(setting.subtasks())
                        .withCheckpointInterval(Duration.ofMillis(setting.intervalMs()))
                        .orMemory(enough(), null);
    }

    private static ByteSize enough() {
        long most = ProcessFigures.machineMemory().bytes() / 4 * 3;
        return new ByteSize(Math.min(ENOUGH.bytes(), most));
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
        settings.put(ROCKSDB + "memory.managed", "false");
        settings.put(ROCKSDB + "writebuffer.size", WRITE_BUFFER);
        settings.put(ROCKSDB + "thread.num", Integer.toString(setting.threads()));
        settings.put("execution.buffer-timeout.interval", BUFFER_TIMEOUT);
        settings.putAll(cureSettings());
        return settings;
    }

    private Map<String, String> cureSettings() {
        return setting.value() == null
                ? cure().settings()
                : switches().map(DesyncSwitches::onFlink).orElseThrow();
    }

    /** What is set of ours; empty where nothing is. */
    Optional<DesyncSwitches> switches() {
        Integer value = setting.value();
        return value == null
                ? cure().switches()
                : Optional.of(DesyncSweep.named(setting.cure()).switches(value));
    }

    @Override
    public Map<String, String> environment() throws CommandFailure {
        return cure().isUnsynced() ? UnsyncedFiles.environment() : Map.of();
    }

    TrafficJamTarget target() throws WorkloadException {
        return TrafficJamTarget.of(
                new TrafficJamOptions(
                        Installation.cityTrace().toString(),
                        null,
                        null,
                        setting.payloadBytes(),
                        setting.history(),
                        setting.work(),
                        1,
                        Long.MAX_VALUE,
                        0,
                        "desync"));
    }

    /** What is counted: so long at the rate, after a checkpoint that does not count. */
    Phase openLoop() {
        return atRate(ratePerS, 1, openMs);
    }

    /**
     * Seeks the rate. Before it counts, state gets as large as it stays for longer: what a report
     * costs grows with it.
     */
    Phase attempt(double eventsPerS) {
        return atRate(eventsPerS, RAMP_UP_OF_ATTEMPT, attemptMs);
    }

    private Phase atRate(double eventsPerS, int checkpointsBefore, long millis) {
        long rampUp = (long) (eventsPerS * checkpointsBefore * setting.intervalMs() / 1e3);
        long counted = Math.max(1, (long) (eventsPerS * millis / 1e3));
        return new Phase(Phase.OPEN_LOOP, rampUp + counted, rampUp, eventsPerS);
    }

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, %s, %s, pair %d",
                place(),
                setting.caseName(),
                isOpenLoop() ? setting.loadPercent() + " %" : "seeks the rate",
                setting.pair());
    }

    private String place() {
        return engine().isKafka()
                ? "%s, %d partitions, commits every %d ms"
                        .formatted(engine().label(), setting.subtasks(), setting.intervalMs())
                : "%d subtasks, checkpoints every %d ms, %d threads"
                        .formatted(setting.subtasks(), setting.intervalMs(), setting.threads());
    }

    /** The run without figures. */
    DesyncTrial trial() {
        return DesyncTrial.none(setting);
    }
}
