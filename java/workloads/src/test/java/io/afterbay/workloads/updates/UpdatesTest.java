package io.afterbay.workloads.updates;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.workloads.run.Backends;
import io.afterbay.workloads.updates.UpdateJournal.Moment;
import io.afterbay.workloads.updates.UpdateJournal.Part;
import io.afterbay.workloads.updates.UpdateJournal.Sample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpdatesTest {
    private static final String BACKEND = "io.afterbay.flink.AfterbayStateBackendFactory";
    private static final long KEYS = 5_000;
    private static final int PARALLELISM = 2;

    @TempDir private Path directory;

    @Test
    void countsAreExactAfterLosingTheTaskManager() throws Exception {
        UpdateOptions options =
                UpdateOptions.ofSize("lost", KEYS * 100, 100, 20_000, directory.toString());
        UpdateStatistics statistics = UpdateStatistics.of(options.run());
        Configuration settings = Backends.settings(BACKEND, directory, Duration.ofMillis(100));
        try (MiniCluster cluster = new MiniCluster(configuration(settings))) {
            cluster.start();
            JobID job = submit(cluster, settings, options);
            Await.until("every key has state", () -> statistics.accepted() > 4 * KEYS);
            cluster.terminateTaskManager(0).get();
            cluster.startTaskManager();
            Await.until(
                    "it goes on from its checkpoint",
                    () -> lastAttempts().size() == PARALLELISM && hasCaughtUp());
            statistics.stop();
            cluster.requestJobResult(job)
                    .get()
                    .toJobExecutionResult(UpdatesTest.class.getClassLoader());
        }
        assertThat(lastAttempts()).allSatisfy(UpdatesTest::assertRestored);
        assertThat(UpdateReference.problem(options, lastAttempts())).isNull();
        assertALostEventIsNoticed(options);
    }

    private static MiniClusterConfiguration configuration(Configuration settings) {
        return new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(PARALLELISM)
                .withRandomPorts()
                .build();
    }

    private static JobID submit(MiniCluster cluster, Configuration settings, UpdateOptions options)
            throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(settings);
        env.setParallelism(PARALLELISM);
        Updates.build(env, options);
        return cluster.submitJob(env.getStreamGraph().getJobGraph()).get().getJobID();
    }

    /** Of all that are not the first. */
    private List<Part> lastAttempts() {
        try {
            return UpdateJournal.read(directory).stream()
                    .filter(part -> part.attempt() > 0)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean hasCaughtUp() {
        return lastAttempts().stream().allMatch(part -> part.micros(Moment.CAUGHT_UP) > 0);
    }

    private static void assertRestored(Part part) {
        assertThat(part.moments()).isSorted().doesNotContain(0);
        assertThat(part.samples()).allSatisfy(sample -> assertThat(sample.whole()).isTrue());
    }

    private void assertALostEventIsNoticed(UpdateOptions options) {
        Part part = lastAttempts().get(0);
        List<Sample> samples = new ArrayList<>(part.samples());
        Sample last = samples.remove(samples.size() - 1);
        samples.add(new Sample(last.number(), last.count() - 1, true));
        Part wrong = new Part(part.subtask(), part.attempt(), part.moments(), samples);
        assertThat(UpdateReference.problem(options, List.of(wrong)))
                .startsWith("event " + last.number() + " made the count " + (last.count() - 1));
    }

    @Test
    void damageOfAValueIsNoticed() {
        byte[] value = UpdateValues.of(7, 3, 21);
        assertThat(UpdateValues.isWhole(value, 7)).isTrue();
        assertThat(UpdateValues.isWhole(value, 8)).isFalse();
        value[20]++;
        assertThat(UpdateValues.isWhole(value, 7)).isFalse();
    }

    @Test
    void withoutCountsNothingIsVerified() {
        UpdateOptions options = UpdateOptions.ofSize("none", 100, 10, 0, "");
        assertThat(UpdateReference.problem(options, List.of())).contains("no counts");
    }
}
