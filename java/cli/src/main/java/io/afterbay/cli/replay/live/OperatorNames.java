package io.afterbay.cli.replay.live;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.runtime.operators.sink.CommitterOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.SinkWriterOperatorFactory;

/**
 * The operators of a job by their names. A cluster shows them joined, one text for each chain of
 * operators; how they are chained depends on the parallelism, and so do the identifiers that Flink
 * gives them. Names do not.
 */
final class OperatorNames {
    /** SQL counts its operators over all jobs that a process plans. */
    private static final Pattern NUMBER = Pattern.compile("\\[\\d+]");

    /** What Flink puts between names, and what it may begin a name of a chain with. */
    private static final Pattern BETWEEN = Pattern.compile("->|[(),\\[\\]\\s]");

    private final List<String> names;
    private final boolean isAll;

    private OperatorNames(List<String> names, boolean isAll) {
        this.names = names;
        this.isAll = isAll;
    }

    /**
     * @param withoutSinks whether those may be others
     */
    static OperatorNames of(StreamGraph job, boolean withoutSinks) {
        List<String> names = new ArrayList<>();
        for (StreamNode node : job.getStreamNodes()) {
            if (!withoutSinks || !isOfSink(node)) {
                names.add(plain(node.getOperatorName()));
            }
        }
        // One may be part of another.
        names.sort(Comparator.comparing(String::length).reversed());
        return new OperatorNames(names, !withoutSinks);
    }

    private static boolean isOfSink(StreamNode node) {
        return node.getOperatorFactory() instanceof SinkWriterOperatorFactory<?, ?>
                || node.getOperatorFactory() instanceof CommitterOperatorFactory<?>
                || node.getOutEdges().isEmpty();
    }

    private static String plain(String name) {
        return NUMBER.matcher(name).replaceAll("");
    }

    /**
     * @param chains of a job, as a cluster shows them
     * @return what the one has and the other has not, in words; empty if nothing
     */
    Optional<String> difference(List<String> chains) {
        StringBuilder left = new StringBuilder();
        chains.forEach(chain -> left.append(plain(chain)).append('\n'));
        for (String name : names) {
            int at = left.indexOf(name);
            if (at < 0) {
                return Optional.of("that one has no operator '%s'".formatted(name));
            }
            left.replace(at, at + name.length(), "\n");
        }
        String more = BETWEEN.matcher(left).replaceAll(" ").strip();
        return isAll && !more.isEmpty()
                ? Optional.of("that one has also '%s'".formatted(more.replaceAll("\\s+", " ")))
                : Optional.empty();
    }
}
