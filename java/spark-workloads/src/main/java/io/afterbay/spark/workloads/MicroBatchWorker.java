package io.afterbay.spark.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Abandonment;
import io.afterbay.handover.Handover;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.microbatch.MicroBatchReport;
import java.nio.file.Path;

/**
 * The process that runs queries on Spark for {@code ./afterbay bench spark}: the command has the
 * libraries of Flink, and Flink's RocksDB has the same classes as Spark's. Its argument is the
 * directory of its {@link Handover}.
 */
public final class MicroBatchWorker {
    private MicroBatchWorker() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Abandonment.withInput(directory);
        ObjectMapper mapper = new ObjectMapper();
        Handover handover = new Handover(directory, mapper::writeValue, mapper::readValue);
        MicroBatchPlan plan = handover.plan(MicroBatchPlan.class);
        handover.trial(report(plan, directory));
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }

    /** Whatever goes wrong with Spark is in the report. */
    private static MicroBatchReport report(MicroBatchPlan plan, Path directory) throws Exception {
        try (LocalSpark spark = LocalSpark.start(plan, directory)) {
            return plan.seeksRate()
                    ? new SustainedRate(plan, spark).report()
                    : new MicroBatchRun(plan, spark).report();
        } catch (RunFailure e) {
            return MicroBatchReport.failed(
                    LocalSpark.VERSION, String.valueOf(e.getMessage()), ProcessCost.cpuMillis());
        }
    }
}
