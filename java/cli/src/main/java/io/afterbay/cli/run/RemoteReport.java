package io.afterbay.cli.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.job.SummaryJson;
import io.afterbay.cli.job.SummaryText;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.command.CommandFailure;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The report at the end of a run on a cluster, from what the cluster says. */
final class RemoteReport {
    private final Job job;
    private final ClusterAddress address;
    private final EngineSettings engine;
    private final @Nullable Path json;
    private final PrintStream out;
    private final RunCompanion companion;

    RemoteReport(
            Job job,
            ClusterAddress address,
            EngineSettings engine,
            @Nullable Path json,
            PrintStream out,
            RunCompanion companion) {
        this.out = out;
        this.companion = companion;
        this.job = job;
        this.address = address;
        this.engine = engine;
        this.json = json;
    }

    /** Prints it, writes the JSON, and returns the exit code. */
    int write(Outcome outcome, RemoteFigures figures) throws CommandFailure {
        if (outcome.problem() == null) {
            print(outcome, figures);
        }
        if (json != null) {
            SummaryJson.write(json, json(outcome, figures));
        }
        if (outcome.problem() != null) {
            throw new CommandFailure(outcome.problem());
        }
        return outcome.exitCode();
    }

    private void print(Outcome outcome, RemoteFigures figures) {
        SummaryText text = new SummaryText(out);
        text.line("%s on the cluster at %s: %s", job.name(), address, outcome.name());
        text.line(
                "%s%,d events in %.1f s with %s%s",
                figures.isExact() ? "" : "at least ",
                figures.events(),
                figures.elapsedSeconds(),
                engine.backend(),
                figures.isExact() ? rate(figures) : "; the cluster forgets what it counted");
        text.checkpoints(figures.engine());
    }

    private static String rate(RemoteFigures figures) {
        return String.format(Locale.ROOT, ": %,.0f events/s", figures.eventsPerSecond());
    }

    private ObjectNode json(Outcome outcome, RemoteFigures figures) throws CommandFailure {
        ObjectNode root = SummaryJson.root(job, outcome);
        root.put("on", address.toString());
        SummaryJson.options(root.putObject("options"), job, engine);
        root.put("events", figures.events());
        root.put("elapsed_s", figures.elapsedSeconds());
        root.put("events_are_all", figures.isExact());
        if (figures.isExact()) {
            root.put("events_per_s", figures.eventsPerSecond());
        } else {
            root.putNull("events_per_s");
        }
        SummaryJson.checkpoints(root.putObject("checkpoints"), figures.engine());
        companion.report(root);
        return root;
    }
}
