package io.afterbay.edge.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.Session;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.PlanReference;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.operations.command.AddJarOperation;

/**
 * Runs plans on Flink, unmodified, in this process.
 *
 * <p>With one task of each kind, and with a watermark behind every row that moves it on: Flink's
 * default looks at the clock, and which rows are late would be another matter each time.
 */
public final class EmbeddedFlink {
    private EmbeddedFlink() {}

    /** Runs a plan with what Flink brings along; returns when its job has ended. */
    public static void run(PlanJson plan) throws CommandFailure, InterruptedException {
        run(plan, Session.DEFAULT);
    }

    /** Runs a plan; returns when its job has ended. */
    public static void run(PlanJson plan, Session session)
            throws CommandFailure, InterruptedException {
        run(plan, session, new Configuration());
    }

    /**
     * Runs a plan; returns when its job has ended.
     *
     * @param place says that it is not this process
     */
    static void run(PlanJson plan, Session session, Configuration place)
            throws CommandFailure, InterruptedException {
        try {
            environment(session, place)
                    .loadPlan(PlanReference.fromJsonString(plan.toString()))
                    .execute()
                    .await();
        } catch (ExecutionException e) {
            throw new CommandFailure("the job failed: " + root(e), e);
        } catch (TableException e) {
            throw new CommandFailure("Flink does not take the plan: " + root(e), e);
        }
    }

    private static TableEnvironment environment(Session session, Configuration place) {
        Configuration settings = new Configuration(place);
        settings.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        settings.set(CoreOptions.DEFAULT_PARALLELISM, 1);
        settings.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ZERO);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        TableEnvironment tables =
                TableEnvironment.create(
                        EnvironmentSettings.newInstance().withConfiguration(settings).build());
        tables.getConfig().setLocalTimeZone(session.zone());
        for (String jar : session.jars()) {
            var unused =
                    ((TableEnvironmentInternal) tables).executeInternal(new AddJarOperation(jar));
        }
        return tables;
    }

    private static String root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return CommandFailure.reason(root);
    }
}
