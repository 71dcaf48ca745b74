package io.afterbay.spark.workloads;

import io.afterbay.workloads.clustermonitoring.TaskEvent;
import io.afterbay.workloads.clustermonitoring.TaskEvents;
import io.afterbay.workloads.linearroad.LinearRoad;
import io.afterbay.workloads.linearroad.PositionReport;
import io.afterbay.workloads.microbatch.EventTimes;
import io.afterbay.workloads.microbatch.StreamQuery;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * The records of a query as rows of Spark: row n is a function of n.
 *
 * @param lost number of a record that does not come, or -1
 */
record Columns(StreamQuery query, long seed, int recordsPerS, long lost) implements Serializable {
    private static final StructType REPORTS =
            StructType.fromDDL(
                    "time TIMESTAMP, vehicle INT, speed INT, highway INT, lane INT, direction INT,"
                            + " position INT");
    private static final StructType EVENTS =
            StructType.fromDDL(
                    "time TIMESTAMP, job BIGINT, task INT, machine INT, eventType INT, category INT,"
                            + " priority INT, cpu INT, ram INT, disk INT");

    StructType schema() {
        return query.isLinearRoad() ? REPORTS : EVENTS;
    }

    /** Makes rows, in one thread. */
    @FunctionalInterface
    interface Rows {
        InternalRow at(long number);
    }

    Rows rows() {
        EventTimes times = new EventTimes(recordsPerS);
        if (query.isLinearRoad()) {
            LinearRoad road = LinearRoad.at(seed, recordsPerS);
            return number -> row(times.micros(number), road.report(number));
        }
        TaskEvents events = TaskEvents.of(seed);
        return number -> row(times.micros(number), events.event(number));
    }

    private static InternalRow row(long micros, PositionReport of) {
        return new GenericInternalRow(
                new Object[] {
                    micros,
                    of.vehicle(),
                    of.speed(),
                    of.highway(),
                    of.lane(),
                    of.direction(),
                    of.position()
                });
    }

    private static InternalRow row(long micros, TaskEvent of) {
        return new GenericInternalRow(
                new Object[] {
                    micros,
                    of.job(),
                    of.task(),
                    of.machine(),
                    of.eventType(),
                    of.category(),
                    of.priority(),
                    of.cpu(),
                    of.ram(),
                    of.disk()
                });
    }
}
