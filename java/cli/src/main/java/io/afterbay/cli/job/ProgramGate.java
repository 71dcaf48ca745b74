package io.afterbay.cli.job;

import io.afterbay.cli.engine.Engine;
import io.afterbay.command.CommandFailure;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.jspecify.annotations.Nullable;

/** Looks at a job of a user before it is submitted: would it start, and on the chosen backend? */
final class ProgramGate {
    private final Engine engine;
    private final ProgramRules rules;

    ProgramGate(Engine engine, ProgramRules rules) {
        this.engine = engine;
        this.rules = rules;
    }

    /**
     * @return what to warn of, or null
     * @throws CommandFailure if it could never start, or the command does not want it
     */
    @Nullable String check(StreamGraph job) throws CommandFailure {
        checkSlots(job);
        return rules.check(job, foreignBackend(job));
    }

    private void checkSlots(StreamGraph job) throws CommandFailure {
        int needed = slotsOf(job);
        if (needed > engine.slots()) {
            throw new CommandFailure(
                    ("job '%s' needs %d slots, the engine has %d: it sets its parallelism itself;"
                                    + " give the engine more with --parallelism %d")
                            .formatted(job.getName(), needed, engine.slots(), needed));
        }
    }

    /** Operators of one slot sharing group share slots; each group has slots of its own. */
    private static int slotsOf(StreamGraph job) {
        Map<String, Integer> widest = new HashMap<>();
        for (StreamNode node : job.getStreamNodes()) {
            String group = Objects.requireNonNullElse(node.getSlotSharingGroup(), "default");
            widest.merge(group, node.getParallelism(), Math::max);
        }
        return widest.values().stream().mapToInt(Integer::intValue).sum();
    }

    private @Nullable String foreignBackend(StreamGraph job) {
        Configuration chosen = new Configuration();
        engine.backend().configure(chosen);
        String wanted = chosen.get(StateBackendOptions.STATE_BACKEND);
        String actual = job.getJobConfiguration().get(StateBackendOptions.STATE_BACKEND);
        return wanted.equals(actual)
                ? null
                : ("job '%s' does not run on %s: it sets state.backend.type to '%s' itself;"
                                + " remove that from its code")
                        .formatted(job.getName(), engine.backend(), actual);
    }
}
