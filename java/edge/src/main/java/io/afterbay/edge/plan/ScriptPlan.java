package io.afterbay.edge.plan;

import io.afterbay.command.flink.sql.Statement;

/**
 * The plan of a script.
 *
 * @param statement the INSERT or SELECT of which it is
 * @param plan what Flink made of it
 */
public record ScriptPlan(Statement statement, PlanJson plan) {}
