package io.afterbay.edge.plan;

import io.afterbay.command.flink.sql.Statement;
import java.time.ZoneId;

/**
 * The plan of a script.
 *
 * @param statement the INSERT or SELECT of which it is
 * @param plan what Flink made of it
 * @param zone the session's time zone, which a plan does not say everywhere it counts
 */
public record ScriptPlan(Statement statement, PlanJson plan, ZoneId zone) {}
