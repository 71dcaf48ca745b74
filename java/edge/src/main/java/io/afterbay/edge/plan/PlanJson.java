package io.afterbay.edge.plan;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A compiled plan of Flink's as JSON: its tables, and plans that are made of others.
 *
 * <pre>
 *   {"flinkVersion": "2.3",
 *    "nodes": [{"id": 1, "type": "stream-exec-table-source-scan_2", "scanTableSource": {"table": …}}, …,
 *              {"id": 8, "type": "stream-exec-sink_2", "dynamicTableSink": {"table": …}}],
 *    "edges": [{"source": 1, "target": 2, "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"}, …]}
 * </pre>
 *
 * Immutable.
 */
public final class PlanJson {
    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS);

    private static final String SCAN = "stream-exec-table-source-scan_";
    private static final String WATERMARK = "stream-exec-watermark-assigner_";
    private static final String CALC = "stream-exec-calc_";
    private static final String SOURCE_TABLE = "scanTableSource";
    private static final String SINK_TABLE = "dynamicTableSink";

    private final ObjectNode plan;

    private PlanJson(ObjectNode plan) {
        this.plan = plan;
    }

    /**
     * Reads a plan.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static PlanJson parse(String json) {
        try {
            if (JSON.readTree(json) instanceof ObjectNode plan
                    && plan.path("nodes").isArray()
                    && plan.path("edges").isArray()) {
                return new PlanJson(plan);
            }
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("no JSON: " + e.getOriginalMessage(), e);
        }
        throw new IllegalArgumentException("no compiled plan: an object with nodes and edges");
    }

    @Override
    public String toString() {
        return plan.toPrettyString();
    }

    /** The tables that are read, scan by scan. */
    public List<PlanTable> sources() {
        return tables(SOURCE_TABLE);
    }

    /** The tables that are written, sink by sink. */
    public List<PlanTable> sinks() {
        return tables(SINK_TABLE);
    }

    private List<PlanTable> tables(String role) {
        List<PlanTable> tables = new ArrayList<>();
        for (JsonNode node : plan.path("nodes")) {
            if (node.has(role)) {
                tables.add(PlanTable.of(node.path(role).path("table")));
            }
        }
        return tables;
    }

    /** Whether every sink takes rows that only come, and none that is taken back. */
    public boolean isInsertOnly() {
        for (JsonNode node : plan.path("nodes")) {
            JsonNode mode = node.path("inputChangelogMode");
            if (node.has(SINK_TABLE)
                    && !(mode.size() == 1 && mode.path(0).asText().equals("INSERT"))) {
                return false;
            }
        }
        return true;
    }

    /**
     * The same plan with other options of each source of a name: another connector, another place.
     */
    public PlanJson withSource(String name, Map<String, String> options) {
        return withOptions(SOURCE_TABLE, name::equals, options);
    }

    /** The same plan with other options of all sinks. */
    public PlanJson withSinks(Map<String, String> options) {
        return withOptions(SINK_TABLE, name -> true, options);
    }

    private PlanJson withOptions(
            String role, Predicate<String> names, Map<String, String> options) {
        ObjectNode changed = plan.deepCopy();
        for (JsonNode node : changed.path("nodes")) {
            JsonNode table = node.path(role).path("table");
            if (!table.isMissingNode() && names.test(PlanTable.of(table).name())) {
                setOptions((ObjectNode) table.path("resolvedTable"), options);
            }
        }
        return new PlanJson(changed);
    }

    private static void setOptions(ObjectNode table, Map<String, String> options) {
        ObjectNode written = table.putObject("options");
        options.forEach(written::put);
    }

    /** Several plans as one, of one job; they have nothing to do with each other. */
    public static PlanJson together(List<PlanJson> plans) {
        ObjectNode all = plans.get(0).plan.deepCopy();
        int largest = largestId(all);
        for (PlanJson next : plans.subList(1, plans.size())) {
            ObjectNode shifted = next.plan.deepCopy();
            shift(shifted, largest);
            largest += largestId(next.plan);
            nodes(all).addAll(nodes(shifted));
            edges(all).addAll(edges(shifted));
        }
        return new PlanJson(all);
    }

    /** The same plan with nodes numbered from 1: Flink numbers on in one process. */
    PlanJson numbered() {
        ObjectNode numbered = plan.deepCopy();
        int smallest = Integer.MAX_VALUE;
        for (JsonNode node : numbered.path("nodes")) {
            smallest = Math.min(smallest, node.path("id").asInt());
        }
        shift(numbered, 1 - smallest);
        return new PlanJson(numbered);
    }

    private static void shift(ObjectNode plan, int by) {
        plan.path("nodes").forEach(node -> add(node, "id", by));
        for (JsonNode edge : plan.path("edges")) {
            add(edge, "source", by);
            add(edge, "target", by);
        }
    }

    private static void add(JsonNode object, String field, int number) {
        ((ObjectNode) object).put(field, object.path(field).asInt() + number);
    }

    /**
     * The same plan with several places to read from instead of the one of a source: each with a
     * watermark of its own, of which the job's is the minimum, as of partitions of one topic.
     *
     * @param name of a table that is read once
     * @param options of each place
     */
    public PlanJson withPartitions(String name, List<Map<String, String>> options) {
        if (options.size() == 1) {
            return withSource(name, options.get(0));
        }
        ObjectNode changed = plan.deepCopy();
        List<ObjectNode> chain = sourceChain(changed, name);
        List<Integer> ends = new ArrayList<>();
        int id = largestId(changed);
        int lastId = chain.get(chain.size() - 1).path("id").asInt();
        for (Map<String, String> place : options) {
            for (ObjectNode node : chain) {
                ObjectNode copy = node.deepCopy().put("id", ++id);
                if (node.has(SOURCE_TABLE)) {
                    setOptions(
                            (ObjectNode)
                                    copy.path(SOURCE_TABLE).path("table").path("resolvedTable"),
                            place);
                } else {
                    edges(changed).add(edge(id - 1, id));
                }
                nodes(changed).add(copy);
            }
            ends.add(id);
        }
        int union = ++id;
        nodes(changed).add(union(union, chain.get(chain.size() - 1), ends.size()));
        ends.forEach(end -> edges(changed).add(edge(end, union)));
        remove(changed, chain, lastId, union);
        return new PlanJson(changed);
    }

    /** From the scan to the watermark, or to the scan itself where there is none. */
    private static List<ObjectNode> sourceChain(ObjectNode plan, String name) {
        List<ObjectNode> chain = new ArrayList<>();
        for (JsonNode node : plan.path("nodes")) {
            if (node.path("type").asText().startsWith(SCAN)
                    && PlanTable.of(node.path(SOURCE_TABLE).path("table")).name().equals(name)) {
                chain.add((ObjectNode) node);
            }
        }
        if (chain.size() != 1) {
            throw new IllegalArgumentException(
                    "table %s is read %d times, not once".formatted(name, chain.size()));
        }
        List<ObjectNode> further = new ArrayList<>(chain);
        for (ObjectNode next = next(plan, chain.get(0));
                next != null && isBeforeWatermark(next);
                next = next(plan, next)) {
            further.add(next);
            if (next.path("type").asText().startsWith(WATERMARK)) {
                return further;
            }
        }
        return chain;
    }

    private static boolean isBeforeWatermark(ObjectNode node) {
        String type = node.path("type").asText();
        return type.startsWith(WATERMARK) || type.startsWith(CALC);
    }

    private static @org.jspecify.annotations.Nullable ObjectNode next(
            ObjectNode plan, ObjectNode node) {
        int target = -1;
        for (JsonNode edge : plan.path("edges")) {
            if (edge.path("source").asInt() == node.path("id").asInt()) {
                if (target != -1) {
                    return null;
                }
                target = edge.path("target").asInt();
            }
        }
        for (JsonNode candidate : plan.path("nodes")) {
            if (candidate.path("id").asInt() == target) {
                return (ObjectNode) candidate;
            }
        }
        return null;
    }

    private static ObjectNode union(int id, ObjectNode input, int inputs) {
        ObjectNode union = JSON.createObjectNode();
        union.put("id", id).put("type", "stream-exec-union_1");
        ArrayNode properties = union.putArray("inputProperties");
        for (int i = 0; i < inputs; i++) {
            ObjectNode property = properties.addObject();
            property.putObject("requiredDistribution").put("type", "UNKNOWN");
            property.put("damBehavior", "PIPELINED").put("priority", 0);
        }
        union.set("outputType", input.path("outputType"));
        union.put("description", "Union(all=[true])");
        return union;
    }

    private static ObjectNode edge(int source, int target) {
        ObjectNode edge = JSON.createObjectNode().put("source", source).put("target", target);
        edge.putObject("shuffle").put("type", "FORWARD");
        return edge.put("shuffleMode", "PIPELINED");
    }

    /** Takes a chain out; what came from its end comes from another node. */
    private static void remove(ObjectNode plan, List<ObjectNode> chain, int end, int instead) {
        List<Integer> ids = chain.stream().map(node -> node.path("id").asInt()).toList();
        ArrayNode nodes = JSON.createArrayNode();
        plan.path("nodes")
                .forEach(
                        node -> {
                            if (!ids.contains(node.path("id").asInt())) {
                                nodes.add(node);
                            }
                        });
        ArrayNode edges = JSON.createArrayNode();
        for (JsonNode edge : plan.path("edges")) {
            if (edge.path("source").asInt() == end) {
                edges.add(((ObjectNode) edge).put("source", instead));
            } else if (!ids.contains(edge.path("source").asInt())) {
                edges.add(edge);
            }
        }
        plan.set("nodes", nodes);
        plan.set("edges", edges);
    }

    private static int largestId(ObjectNode plan) {
        int largest = 0;
        for (JsonNode node : plan.path("nodes")) {
            largest = Math.max(largest, node.path("id").asInt());
        }
        return largest;
    }

    private static ArrayNode nodes(ObjectNode plan) {
        return (ArrayNode) plan.path("nodes");
    }

    private static ArrayNode edges(ObjectNode plan) {
        return (ArrayNode) plan.path("edges");
    }
}
