package io.afterbay.spark.publish;

import java.io.Serializable;
import java.util.Map;
import java.util.Set;

/**
 * What a process that writes state tells the one that writes the log. Files are named by version
 * and unique id, as in {@code 8_9f3c1c52-...}: all files of that name together.
 *
 * @param writer name of the process
 * @param sequence rises with each report of the process
 * @param seenRound the last answer that the process had when it made this report, 0 for none
 * @param durable by checkpoint, what came into the storage since the last report that was answered
 * @param waiting all files that are written or wait, of all checkpoints
 * @param busy checkpoints to which the process has something to write
 * @param failures by checkpoint, why nothing more will be published
 * @param isLast the process ends
 */
public record WriterReport(
        String writer,
        long sequence,
        long seenRound,
        Map<String, Set<String>> durable,
        Set<String> waiting,
        Set<String> busy,
        Map<String, String> failures,
        boolean isLast)
        implements Serializable {
    private static final long serialVersionUID = 1;

    public WriterReport {
        durable = Map.copyOf(durable);
        waiting = Set.copyOf(waiting);
        busy = Set.copyOf(busy);
        failures = Map.copyOf(failures);
    }
}
