package io.afterbay.spark;

import io.afterbay.spark.publish.StateLedger;
import io.afterbay.spark.publish.WriterReport;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.jspecify.annotations.Nullable;

/** The driver's part: publishes the log, and hears from the executors what they have published. */
final class PluginOnDriver implements DriverPlugin {
    private final Function<StateLedger, Peers> withExecutors;
    private @Nullable Checkpoints checkpoints;
    private @Nullable StateLedger ledger;

    /**
     * @param withExecutors for a driver whose executors are processes of their own
     */
    PluginOnDriver(Function<StateLedger, Peers> withExecutors) {
        this.withExecutors = withExecutors;
    }

    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
        AfterbaySparkPlugin.check(context.version());
        SparkConf conf = plugin.conf();
        QuerySettings.requireSomeFileManager(conf);
        StateLedger states = new StateLedger(CommitSettings.silenceNanosMax(conf));
        Peers peers = context.isLocal() ? new Peers() : withExecutors.apply(states);
        Checkpoints all =
                new Checkpoints(CommitSettings.of(conf), LocalCopies.directory(conf), peers);
        Checkpoints.install(all);
        context.addSparkListener(new Removals(states));
        ledger = states;
        checkpoints = all;
        return Map.of();
    }

    /** A report of an executor, whose answer is the round; or a question of its tasks. */
    @Override
    public Object receive(Object message) {
        if (ledger == null || checkpoints == null) {
            throw new IllegalStateException("the application has ended");
        }
        return receive(message, ledger, checkpoints);
    }

    static Object receive(Object message, StateLedger ledger, Checkpoints checkpoints) {
        if (message instanceof PublishedQuestion question) {
            return checkpoints.isPublished(question.location(), question.target());
        }
        if (message instanceof WriterReport report) {
            return report(report, ledger, checkpoints);
        }
        throw new IllegalArgumentException("not a message of an executor: " + message);
    }

    private static long report(WriterReport report, StateLedger ledger, Checkpoints checkpoints) {
        long round = ledger.report(report);
        report.durable().keySet().forEach(checkpoints::wake);
        report.failures().keySet().forEach(checkpoints::wake);
        return round;
    }

    @Override
    public void registerMetrics(String appId, PluginContext plugin) {
        if (checkpoints != null) {
            CommitMetrics.register(plugin.metricRegistry(), checkpoints);
        }
        if (ledger != null) {
            CommitMetrics.register(plugin.metricRegistry(), "lostExecutors", ledger::lostWriters);
        }
    }

    @Override
    public void shutdown() {
        if (checkpoints != null) {
            Checkpoints.install(null);
            checkpoints.close();
        }
    }

    /** Spark often knows before the silence is long enough. */
    private static final class Removals extends SparkListener {
        private final StateLedger ledger;

        Removals(StateLedger ledger) {
            this.ledger = ledger;
        }

        @Override
        public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
            ledger.gone(PluginOnExecutor.name(event.executorId()));
        }
    }
}
