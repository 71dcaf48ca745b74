package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.command.CommandFailure;
import io.afterbay.workloads.profiles.Profiles;
import io.afterbay.workloads.profiles.ProfilesAnswer;
import io.afterbay.workloads.profiles.ProfilesOptions;
import io.afterbay.workloads.profiles.ProfilesStatistics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Titles of profiles in a worker. */
public final class ProfilesRun implements Job {
    private final ProfilesOptions options;
    private final boolean verifies;
    private boolean verified;

    public ProfilesRun(ProfilesOptions options, boolean verifies) {
        this.options = options;
        this.verifies = verifies;
    }

    @Override
    public String name() {
        return "profiles";
    }

    @Override
    public ProfilesStatistics statistics() {
        return ProfilesStatistics.of(options.run());
    }

    @Override
    public boolean isOpenLoop() {
        return options.isOpenLoop();
    }

    @Override
    public @Nullable String output() {
        return options.output();
    }

    @Override
    public Job writingTo(String file) {
        return new ProfilesRun(options.writingTo(file), verifies);
    }

    @Override
    public CompletableFuture<Void> start(Engine engine) throws Exception {
        return engine.start(environment -> Profiles.build(environment, options), isOpenLoop());
    }

    @Override
    public boolean verifies() {
        return verifies;
    }

    @Override
    public void verify() throws CommandFailure {
        String file = options.output();
        if (!verifies || file == null) {
            return;
        }
        try {
            String problem = ProfilesAnswer.problem(options, Path.of(file));
            if (!problem.isEmpty()) {
                throw new CommandFailure("--verify: the output is wrong: " + problem);
            }
            verified = true;
        } catch (IOException e) {
            throw new CommandFailure("--verify: " + CommandFailure.reason(e), e);
        }
    }

    @Override
    public void printResult(SummaryText text) {
        text.line(
                "titles by dictionary %d: %,d rows%s",
                options.dictionary(),
                statistics().rows(),
                verified ? ", equal to the answer that was computed without the engine" : "");
    }

    @Override
    public void printLatency(SummaryText text, RunFigures run) {
        text.line(
                "             of a row: since its record was %s",
                isOpenLoop() ? "due" : "generated");
        text.closedLoopNote(isOpenLoop());
    }

    @Override
    public void options(ObjectNode node) {
        node.put("members", options.changes().members());
        node.put("changes", options.records() - options.changes().members());
        node.put("inter_event_us", options.intervalMicros());
        node.put("dictionary", options.dictionary());
        node.put("seed", options.changes().seed());
        node.put("rate", options.recordsPerSecond());
    }

    @Override
    public void figures(ObjectNode root, RunFigures run) {
        root.put("rows", statistics().rows());
        if (verifies) {
            root.put("verified", verified);
        } else {
            root.putNull("verified");
        }
    }
}
