package io.afterbay.edge.app;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.edge.app.AppFile.AppService;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.Planning;
import io.afterbay.edge.plan.ScriptPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/**
 * The script of an app: a statement for each service.
 *
 * <pre>
 *   source, sink, store    CREATE TABLE NAME (columns) WITH (options);
 *   view                   CREATE VIEW NAME AS sql;
 *   statement              sql;
 * </pre>
 *
 * What a source reads at a site is no matter of its options, so it may leave the connector out.
 */
public final class AppScript {
    private static final String CONNECTOR = "connector";

    private AppScript() {}

    /**
     * Has Flink plan an app.
     *
     * @param file where it stands, for messages and for files beside it
     * @throws CommandFailure names the line of the service that is wrong, and the reason
     */
    public static ScriptPlan plan(AppFile app, Path file, Planning planning) throws CommandFailure {
        StringBuilder script = new StringBuilder();
        for (AppService service : app.services()) {
            script.append(statement(service, file)).append("\n;\n");
        }
        try {
            ScriptPlan plan = PlanMaker.plan(app.name(), script.toString(), planning);
            return plan.withLocal(local(app, plan));
        } catch (ScriptException e) {
            throw new CommandFailure(message(app, file, e), e);
        }
    }

    /** Of the sources that the job reads. */
    private static List<String> local(AppFile app, ScriptPlan plan) {
        Set<String> read =
                plan.plan().sources().stream().map(PlanTable::name).collect(Collectors.toSet());
        return app.services().stream()
                .filter(service -> read.contains(service.name()))
                .flatMap(
                        service ->
                                service.local().stream()
                                        .map(column -> service.name() + "." + column))
                .toList();
    }

    private static String message(AppFile app, Path file, ScriptException failure) {
        int number = failure.statement().number();
        if (number > app.services().size()) {
            return "%s: %s".formatted(file, failure.getMessage()); // several statements in one
        }
        AppService service = app.services().get(number - 1);
        return "%s:%d: service %s: %s"
                .formatted(file, service.line(), service.name(), failure.reason());
    }

    private static String statement(AppService service, Path file) throws CommandFailure {
        return switch (service.kind()) {
            case "view" -> "CREATE VIEW `%s` AS %s".formatted(service.name(), sql(service, file));
            case "statement" -> sql(service, file);
            default ->
                    "CREATE TABLE `%s` (%s) WITH (%s)"
                            .formatted(service.name(), service.columns(), options(service));
        };
    }

    private static String sql(AppService service, Path file) throws CommandFailure {
        String text = service.sql();
        if (text.isEmpty()) {
            Path beside = file.resolveSibling(service.sqlFile());
            try {
                text = Files.readString(beside);
            } catch (NoSuchFileException e) {
                throw new CommandFailure(
                        "%s:%d: service %s: %s: no such file"
                                .formatted(file, service.line(), service.name(), beside),
                        e);
            } catch (IOException e) {
                throw new CommandFailure(beside + ": " + CommandFailure.reason(e), e);
            }
        }
        String stripped = text.strip();
        return stripped.endsWith(";") ? stripped.substring(0, stripped.length() - 1) : stripped;
    }

    private static String options(AppService service) {
        Map<String, String> options = new LinkedHashMap<>(service.options());
        if (service.kind().equals("source") && !options.containsKey(CONNECTOR)) {
            options.put(CONNECTOR, "filesystem");
            options.putIfAbsent("path", service.name());
            options.putIfAbsent("format", "json");
        }
        StringJoiner text = new StringJoiner(", ");
        options.forEach((name, value) -> text.add(quoted(name) + " = " + quoted(value)));
        return text.toString();
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
