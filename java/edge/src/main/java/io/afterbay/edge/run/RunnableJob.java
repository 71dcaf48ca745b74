package io.afterbay.edge.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.ScriptPlan;
import java.util.List;

/**
 * A job whose sites' files can stand for its table.
 *
 * @param source the only table that it reads
 * @param sink what it writes
 */
public record RunnableJob(PlanJson plan, PlanTable source, PlanTable sink) {
    /**
     * @throws CommandFailure says why a job is no such job
     */
    public static RunnableJob of(ScriptPlan script) throws CommandFailure {
        PlanJson plan = script.plan();
        List<PlanTable> sources = plan.sources();
        List<String> names = sources.stream().map(PlanTable::name).distinct().toList();
        if (names.size() != 1) {
            throw new CommandFailure(
                    "the job reads %d tables (%s); jobs that read one are run, once in the plan"
                            .formatted(names.size(), String.join(", ", names)));
        }
        if (sources.size() != 1) {
            throw new CommandFailure(
                    "the job reads table %s %d times; jobs that read one are run, once in the plan"
                            .formatted(names.get(0), sources.size()));
        }
        if (!plan.isInsertOnly()) {
            throw new CommandFailure(
                    "the job takes rows back that it has written; only jobs with windows, or without"
                            + " aggregates, are run");
        }
        return new RunnableJob(plan, sources.get(0), plan.sinks().get(0));
    }
}
