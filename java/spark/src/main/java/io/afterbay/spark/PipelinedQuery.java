package io.afterbay.spark;

import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.DeduplicateWithinWatermark;
import org.apache.spark.sql.catalyst.plans.logical.Distinct;
import org.apache.spark.sql.catalyst.plans.logical.FlatMapGroupsInPandasWithState;
import org.apache.spark.sql.catalyst.plans.logical.FlatMapGroupsWithState;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState;
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import scala.Option;
import scala.collection.immutable.Map;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Whether a query may run in pipelined mode. Its sources have to keep their input, since Spark
 * commits a batch to them before it is published; and it needs state, whose tasks are what holds
 * the sink back.
 */
record PipelinedQuery(UUID id, LogicalPlan plan, Set<String> alsoReplayable) {
    /** Providers by name: the connector of Kafka is not part of Spark itself. */
    private static final Set<String> REPLAYABLE =
            Set.of(
                    "org.apache.spark.sql.kafka010.KafkaSourceProvider",
                    "org.apache.spark.sql.execution.streaming.sources.RatePerMicroBatchProvider",
                    "org.apache.spark.sql.execution.streaming.sources.RateStreamProvider");

    private static final String CLEANS = "cleansource";

    /**
     * @throws IllegalStateException with the reason and the line that mends it
     */
    void check() {
        if (!isHeld(plan)) {
            throw refused("rows reach its sink past all state, and so past what holds it back", "");
        }
        CollectionConverters.asJava(plan.collectLeaves()).stream()
                .filter(LogicalPlan::isStreaming)
                .forEach(this::checkSource);
    }

    /** Whether all rows of streams come through state, whose tasks wait for the offsets. */
    private static boolean isHeld(LogicalPlan node) {
        return !node.isStreaming()
                || isStateful(node)
                || (!node.children().isEmpty()
                        && CollectionConverters.asJava(node.children()).stream()
                                .allMatch(PipelinedQuery::isHeld));
    }

    /** Whether some of its rows come through state. */
    static boolean hasState(LogicalPlan node) {
        return node.isStreaming()
                && (isStateful(node)
                        || CollectionConverters.asJava(node.children()).stream()
                                .anyMatch(PipelinedQuery::hasState));
    }

    private static boolean isStateful(LogicalPlan node) {
        return node instanceof Aggregate
                || node instanceof Deduplicate
                || node instanceof DeduplicateWithinWatermark
                || node instanceof Distinct
                || node instanceof FlatMapGroupsWithState
                || node instanceof FlatMapGroupsInPandasWithState
                || node instanceof TransformWithState
                || node instanceof TransformWithStateInPySpark
                || node instanceof GlobalLimit
                || (node instanceof Join join
                        && join.left().isStreaming()
                        && join.right().isStreaming());
    }

    private void checkSource(LogicalPlan leaf) {
        if (leaf instanceof StreamingRelation relation) {
            checkSource(relation.sourceName(), relation.dataSource());
        } else if (leaf instanceof StreamingRelationV2 relation) {
            Option<TableProvider> provider = relation.source();
            Class<?> type =
                    provider.isDefined() ? provider.get().getClass() : relation.table().getClass();
            requireReplayable(relation.sourceName(), type.getName());
        } else {
            requireReplayable(leaf.nodeName(), leaf.getClass().getName());
        }
    }

    private void checkSource(String name, DataSource source) {
        Class<?> type = source.providingClass();
        if (FileFormat.class.isAssignableFrom(type)) {
            requireKeptFiles(name, source.options());
        } else {
            requireReplayable(name, type.getName());
        }
    }

    private void requireKeptFiles(String name, Map<String, String> options) {
        CollectionConverters.asJava(options)
                .forEach(
                        (key, value) -> {
                            if (key.toLowerCase(Locale.ROOT).equals(CLEANS)
                                    && !value.equalsIgnoreCase("off")) {
                                throw refused(
                                        "its source " + name + " has cleanSource=" + value,
                                        ", or the option cleanSource=off");
                            }
                        });
    }

    private void requireReplayable(String name, String type) {
        if (!REPLAYABLE.contains(type) && !alsoReplayable.contains(type)) {
            throw refused(
                    "its source "
                            + name
                            + " ("
                            + type
                            + ") may discard input that Spark has committed to it",
                    "; or, if it keeps that, add " + type + " to " + QuerySettings.REPLAYABLE);
        }
    }

    private IllegalStateException refused(String reason, String otherwise) {
        return new IllegalStateException(
                "Afterbay cannot run query "
                        + id
                        + " in pipelined mode: "
                        + reason
                        + ". Set "
                        + QuerySettings.MODE
                        + "=strict in its session"
                        + otherwise);
    }
}
