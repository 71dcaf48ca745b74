package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.PlanTable.PlanColumn;
import io.afterbay.edge.plan.Planning;
import io.afterbay.edge.plan.Session;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.UUID;

/**
 * Topics of one run at the user's broker, which are gone when it has ended:
 *
 * <pre>
 *   gateway ── RUN.edge_partials ── upper half ── RUN.results ── rows
 * </pre>
 *
 * <p>Flink reads and writes them with Kafka's own connector, from a jar that the user names.
 */
final class RunTopics implements AutoCloseable {
    private static final String RESULTS = "results";

    private final EdgeProgram program;
    private final String bootstrap;
    private final Path said;
    private final String prefix =
            "afterbay-run-" + UUID.randomUUID().toString().substring(0, 8) + ".";

    /**
     * @param bootstrap HOST:PORT of the brokers, with commas between
     * @param directory for what the program says
     */
    RunTopics(EdgeProgram program, String bootstrap, Path directory) {
        this.program = program;
        this.bootstrap = bootstrap;
        this.said = directory.resolve("topics.txt");
    }

    /** One partition: sites make the watermarks, and the gateway writes the least of them. */
    List<String> gatewayArguments() {
        return List.of("--bootstrap", bootstrap, "--topic-prefix", prefix, "--partitions", "1");
    }

    /**
     * Options of a table that is read, from its beginning to where it ends when Flink starts.
     *
     * @param stream of the gateway
     */
    Map<String, String> source(String stream) {
        Map<String, String> options = options(stream);
        options.put("properties.isolation.level", "read_committed");
        options.put("scan.startup.mode", "earliest-offset");
        options.put("scan.bounded.mode", "latest-offset");
        return options;
    }

    /** Options of the table into which a cluster writes. */
    Map<String, String> results() {
        return options(RESULTS);
    }

    private Map<String, String> options(String stream) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("connector", "kafka");
        options.put("topic", prefix + stream);
        options.put("properties.bootstrap.servers", bootstrap);
        options.put("format", "json");
        return options;
    }

    /**
     * A job that copies what a cluster has written into files.
     *
     * @param rows what the cluster writes
     * @param session with the jar of the connector
     * @param output a directory
     * @throws CommandFailure if there is no such jar
     */
    PlanJson copy(PlanTable rows, Session session, Path output) throws CommandFailure {
        String script =
                table(RESULTS, rows, source(RESULTS))
                        + table("copied", rows, Tables.json(output))
                        + "INSERT INTO copied SELECT * FROM %s;".formatted(RESULTS);
        try {
            return PlanMaker.plan(RESULTS, script, new Planning(session.jars(), false)).plan();
        } catch (ScriptException e) {
            throw new CommandFailure("--bootstrap %s: %s".formatted(bootstrap, e.reason()), e);
        }
    }

    private static String table(String name, PlanTable rows, Map<String, String> options) {
        StringJoiner columns = new StringJoiner(", ");
        for (PlanColumn column : rows.columns()) {
            columns.add("`%s` %s".formatted(column.name().replace("`", "``"), column.type()));
        }
        StringJoiner with = new StringJoiner(", ");
        options.forEach(
                (option, value) ->
                        with.add("'%s' = '%s'".formatted(option, value.replace("'", "''"))));
        return "CREATE TABLE %s (%s) WITH (%s);%n".formatted(name, columns, with);
    }

    /** Makes the topic into which a cluster writes; also says whether there is a broker. */
    void makeResults() throws CommandFailure, IOException, InterruptedException {
        topics("make", RESULTS);
    }

    /**
     * Removes all of them.
     *
     * @throws CommandFailure names one that is left
     */
    @Override
    public void close() throws CommandFailure, IOException {
        try {
            topics("remove");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void topics(String... verb) throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("topics"));
        arguments.addAll(List.of(verb));
        arguments.addAll(List.of("--bootstrap", bootstrap, "--topic-prefix", prefix));
        program.run(said, arguments);
    }
}
