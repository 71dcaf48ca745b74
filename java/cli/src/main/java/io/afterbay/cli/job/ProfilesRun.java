package io.afterbay.cli.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.workloads.profiles.Profiles;
import io.afterbay.workloads.profiles.ProfilesAnswer;
import io.afterbay.workloads.profiles.ProfilesOptions;
import io.afterbay.workloads.profiles.ProfilesStatistics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Titles of profiles in a worker. */
public final class ProfilesRun extends VerifiedRun {
    private final ProfilesOptions options;

    public ProfilesRun(ProfilesOptions options, boolean verifies) {
        super(verifies);
        this.options = options;
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
        return new ProfilesRun(options.writingTo(file), verifies());
    }

    @Override
    public CompletableFuture<Void> start(Engine engine) throws Exception {
        return engine.start(environment -> Profiles.build(environment, options), isOpenLoop());
    }

    @Override
    String problem(Path output) throws IOException {
        String problem = ProfilesAnswer.problem(options, output);
        return problem.isEmpty() ? "" : "the output is wrong: " + problem;
    }

    @Override
    long rows() {
        return statistics().rows();
    }

    @Override
    public void printResult(SummaryText text) {
        text.line("titles by dictionary %d: %,d rows%s", options.dictionary(), rows(), verdict());
    }

    @Override
    public void printLatency(SummaryText text, RunFigures run) {
        latencyNote(text, "its record was");
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
}
