package io.afterbay.edge.plan;

import io.afterbay.command.flink.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a script.
 *
 * @param statement the INSERT or SELECT of which it is
 * @param plan what Flink made of it
 * @param session in which it was planned, and in which it runs
 * @param times a plan that has the row's time for each row of the only table that is read; null if
 *     that has no watermark, or several are read
 * @param local columns of which no value is at two sites, each COLUMN or TABLE.COLUMN
 */
public record ScriptPlan(
        Statement statement,
        PlanJson plan,
        Session session,
        @Nullable PlanJson times,
        List<String> local) {
    public ScriptPlan {
        local = List.copyOf(local);
    }

    /** The same job, with these local columns instead of its own. */
    public ScriptPlan withLocal(List<String> columns) {
        return new ScriptPlan(statement, plan, session, times, columns);
    }
}
