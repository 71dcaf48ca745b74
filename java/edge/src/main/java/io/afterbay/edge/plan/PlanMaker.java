package io.afterbay.edge.plan;

import io.afterbay.command.flink.sql.Script;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.command.flink.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.SqlParserEOFException;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.OptimizerConfigOptions;
import org.apache.flink.table.api.config.TableConfigOptions;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.catalog.WatermarkSpec;
import org.apache.flink.table.operations.BeginStatementSetOperation;
import org.apache.flink.table.operations.ModifyOperation;
import org.apache.flink.table.operations.Operation;
import org.apache.flink.table.operations.QueryOperation;
import org.apache.flink.table.operations.SinkModifyOperation;
import org.apache.flink.table.operations.StatementSetOperation;
import org.apache.flink.table.operations.UseOperation;
import org.apache.flink.table.operations.command.AddJarOperation;
import org.apache.flink.table.operations.command.SetOperation;
import org.apache.flink.table.operations.command.ShowJarsOperation;
import org.apache.flink.table.operations.ddl.AlterOperation;
import org.apache.flink.table.operations.ddl.CreateOperation;
import org.apache.flink.table.operations.ddl.CreateTableOperation;
import org.apache.flink.table.operations.ddl.DropOperation;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeUtils;
import org.apache.flink.table.types.utils.TypeConversions;
import org.jspecify.annotations.Nullable;

/**
 * Has Flink plan the one INSERT or SELECT of a script. Statements that define something are
 * executed, in a catalog of their own that is gone afterwards; nothing else is, and no job starts.
 *
 * <p>Plans are the same on every machine: aggregates have two phases, so that a windowed one has a
 * local node, the natural place of a cut; and the time zone is UTC unless the script sets another.
 *
 * <p>Not thread-safe; one for each script.
 */
public final class PlanMaker {
    /** The table that takes the rows of a SELECT. */
    public static final String RESULT_TABLE = "edge_result";

    private static final String TIMES_TABLE = "edge_times";

    private static final String TWO_PHASE = "TWO_PHASE";

    private final String name;
    private final TableEnvironmentInternal tables;
    private final Planning planning;
    private final FilesForKafka files = new FilesForKafka();
    private @Nullable ScriptPlan plan;

    private PlanMaker(String name, Planning planning) {
        this.name = name;
        this.planning = planning;
        this.tables =
                (TableEnvironmentInternal)
                        TableEnvironment.create(
                                EnvironmentSettings.newInstance().inStreamingMode().build());
        tables.getConfig()
                .set(OptimizerConfigOptions.TABLE_OPTIMIZER_AGG_PHASE_STRATEGY.key(), TWO_PHASE);
        tables.getConfig().set(TableConfigOptions.LOCAL_TIME_ZONE, "UTC");
        tables.getConfig()
                .set(
                        TableConfigOptions.PLAN_COMPILE_CATALOG_OBJECTS,
                        TableConfigOptions.CatalogPlanCompilation.ALL);
        for (String jar : planning.jars()) {
            var unused = tables.executeInternal(new AddJarOperation(jar));
        }
    }

    /** Plans a script with what Flink brings along. */
    public static ScriptPlan plan(String name, String text) throws ScriptException {
        return plan(name, text, Planning.AS_WRITTEN);
    }

    /**
     * Plans a script.
     *
     * @param name for messages
     * @param text the script
     * @throws ScriptException names the statement that cannot be planned, its line and the reason
     */
    public static ScriptPlan plan(String name, String text, Planning planning)
            throws ScriptException {
        return new PlanMaker(name, planning).plan(text);
    }

    private ScriptPlan plan(String text) throws ScriptException {
        Script script = new Script(text);
        Statement last = null;
        for (Statement statement = script.next(this::isComplete);
                statement != null;
                statement = script.next(this::isComplete)) {
            take(statement);
            last = statement;
        }
        if (plan == null) {
            throw new ScriptException(
                    name,
                    last == null ? new Statement(1, 1, "") : last,
                    "no INSERT or SELECT up to here, so there is nothing to plan");
        }
        return plan;
    }

    private boolean isComplete(Statement statement) {
        try {
            parse(statement);
            return true;
        } catch (SqlParserEOFException e) {
            return false;
        } catch (RuntimeException e) {
            return true; // taking it says what is wrong
        }
    }

    private Operation parse(Statement statement) {
        return tables.getParser().parse(statement.text()).get(0);
    }

    private void take(Statement statement) throws ScriptException {
        try {
            take(statement, parse(statement));
        } catch (RuntimeException e) {
            String missing = MissingConnector.reason(e, planning);
            throw missing == null
                    ? new ScriptException(name, statement, e)
                    : new ScriptException(name, statement, missing);
        }
    }

    private void take(Statement statement, Operation operation) {
        if (operation instanceof SetOperation set) {
            set(set);
        } else if (operation instanceof SinkModifyOperation) {
            checkFirst();
            keep(statement, tables.compilePlanSql(text(statement)).asJsonString());
        } else if (operation instanceof QueryOperation && !(operation instanceof ModifyOperation)) {
            checkFirst();
            keep(statement, select(statement));
        } else if (planning.filesForKafka() && operation instanceof CreateTableOperation create) {
            var unused = tables.executeInternal(files.of(create));
        } else if (isDefinition(operation)) {
            var unused = tables.executeInternal(operation);
        } else {
            throw new TableException(refusal(operation));
        }
    }

    private static boolean isDefinition(Operation operation) {
        return operation instanceof AddJarOperation
                || operation instanceof CreateOperation
                || operation instanceof AlterOperation
                || operation instanceof DropOperation
                || operation instanceof UseOperation;
    }

    private static String refusal(Operation operation) {
        if (operation instanceof BeginStatementSetOperation
                || operation instanceof StatementSetOperation) {
            return "statement sets cannot be cut yet; make each INSERT a script of its own";
        }
        return "only ADD JAR, SET, CREATE, ALTER, DROP and USE may stand beside the one INSERT or SELECT";
    }

    private void set(SetOperation operation) {
        String key = operation.getKey().orElse("");
        String value = operation.getValue().orElse("");
        if (key.isEmpty()) {
            throw new TableException("SET needs a key and a value here");
        }
        if (key.equals(OptimizerConfigOptions.TABLE_OPTIMIZER_AGG_PHASE_STRATEGY.key())
                && !value.equals(TWO_PHASE)) {
            throw new TableException(
                    "SET '%s' = '%s': only %s has a half that runs at a site; take this statement out"
                            .formatted(key, value, TWO_PHASE));
        }
        if (key.equals("execution.runtime-mode") && !value.equalsIgnoreCase("streaming")) {
            throw new TableException(
                    "SET '%s' = '%s': only streaming jobs are cut".formatted(key, value));
        }
        if (key.equals(ExecutionConfigOptions.TABLE_EXEC_LEGACY_CAST_BEHAVIOUR.key())
                && !value.equalsIgnoreCase("disabled")) {
            throw new TableException(
                    "SET '%s' = '%s': a plan does not say how casts behave, so that sites would cast in another way; take this statement out"
                            .formatted(key, value));
        }
        tables.getConfig().set(key, value);
    }

    private String select(Statement statement) {
        return insert(tables.sqlQuery(text(statement)), RESULT_TABLE);
    }

    private String insert(Table rows, String table) {
        tables.createTable(
                table,
                TableDescriptor.forConnector("blackhole")
                        .schema(columns(rows.getResolvedSchema()))
                        .build());
        return rows.insertInto(table).compilePlan().asJsonString();
    }

    /** Times are no attributes in the table that takes them. */
    private static Schema columns(ResolvedSchema rows) {
        Schema.Builder schema = Schema.newBuilder();
        for (Column column : rows.getColumns()) {
            LogicalType type =
                    LogicalTypeUtils.removeTimeAttributes(column.getDataType().getLogicalType());
            schema.column(column.getName(), TypeConversions.fromLogicalToDataType(type));
        }
        return schema.build();
    }

    private void checkFirst() {
        if (plan != null) {
            throw new TableException(
                    "the job of this script is the INSERT or SELECT in line %d; make this one a script of its own"
                            .formatted(plan.statement().line()));
        }
    }

    private void keep(Statement statement, String json) {
        PlanJson kept = PlanJson.parse(json).numbered();
        files.checkPlayed(kept.sources());
        plan =
                new ScriptPlan(
                        statement,
                        kept,
                        new Session(tables.getConfig().getLocalTimeZone(), jars()),
                        times(kept),
                        List.of());
    }

    /** Those that were named, and those of functions that are used. */
    private List<String> jars() {
        List<String> jars = new ArrayList<>();
        tables.executeInternal(new ShowJarsOperation())
                .collect()
                .forEachRemaining(row -> jars.add(String.valueOf(row.getField(0))));
        return jars;
    }

    private @Nullable PlanJson times(PlanJson kept) {
        if (kept.sources().size() != 1) {
            return null;
        }
        String identifier = kept.sources().get(0).identifier();
        if (!identifier.startsWith("`")) {
            return null; // of no catalog
        }
        List<WatermarkSpec> watermarks =
                tables.from(identifier).getResolvedSchema().getWatermarkSpecs();
        if (watermarks.isEmpty()) {
            return null;
        }
        String column = "`" + watermarks.get(0).getRowtimeAttribute().replace("`", "``") + "`";
        Table rows = tables.sqlQuery("SELECT " + column + " FROM " + identifier);
        return PlanJson.parse(insert(rows, TIMES_TABLE)).numbered();
    }

    /** The planner's parser takes no semicolon here. */
    private static String text(Statement statement) {
        String text = statement.text().stripTrailing();
        return text.endsWith(";") ? text.substring(0, text.length() - 1) : text;
    }
}
