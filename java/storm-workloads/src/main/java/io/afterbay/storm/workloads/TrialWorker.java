package io.afterbay.storm.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Abandonment;
import io.afterbay.handover.Handover;
import io.afterbay.handover.WorkerStatus;
import io.afterbay.handover.stragglers.StragglerPlan;
import java.nio.file.Path;

/**
 * The process that runs trials on Storm for {@code ./afterbay bench storm}: the command has the
 * libraries of Flink, which are other versions of Storm's. Its argument is the directory of its
 * {@link Handover}.
 */
public final class TrialWorker {
    private static final double NANOS_PER_S = 1e9;

    private TrialWorker() {}

    public static void main(String[] args) {
        int code = 1;
        try {
            run(Path.of(args[0]));
            code = 0;
        } catch (Throwable e) {
            e.printStackTrace();
        }
        // Threads of Storm do not end with this one.
        Runtime.getRuntime().halt(code);
    }

    private static void run(Path directory) throws Exception {
        Abandonment.withInput(directory);
        ObjectMapper mapper = new ObjectMapper();
        Handover handover = new Handover(directory, mapper::writeValue, mapper::readValue);
        StragglerPlan plan = handover.plan(StragglerPlan.class);
        WorkerStatus.STARTING.say();
        try (EmbeddedStorm storm = new EmbeddedStorm(directory.resolve("storm"))) {
            handover.trial(new TrialRun(plan).run(storm, TrialWorker::say));
        }
    }

    private static void say(TrialLog log) {
        double elapsedS = log.elapsedNanos() / NANOS_PER_S;
        String phase = "recovery";
        if (elapsedS < log.plan().warmUpS()) {
            phase = elapsedS < 0 ? "starting" : "warm-up";
        } else if (log.plan().counts(elapsedS)) {
            phase = "counting";
        }
        long acked = log.ackedTuples();
        new WorkerStatus(phase, acked, log.schedule().tuples(), acked).say();
    }
}
