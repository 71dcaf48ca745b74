package io.afterbay.flink.it;

import static io.afterbay.flink.it.SoakPlan.Event.KILL;
import static io.afterbay.flink.it.SoakPlan.Event.LOSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.it.Leaks.Kill;
import io.afterbay.flink.it.job.Journal;
import io.afterbay.flink.it.job.LedgerReference;
import io.afterbay.flink.it.job.Pages;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Negative control: what {@link SoakIT} looks for would be found. */
class SoakChecksTest {
    private static final Instant KILLED = Instant.parse("2026-01-01T10:00:00Z");
    private static final List<Kill> ONE_KILL = List.of(new Kill(KILLED, KILLED.plusSeconds(10)));

    @TempDir Path folder;

    @Test
    void filesOfARetainedCheckpointAreNoLeak() throws Exception {
        writeCheckpoint();

        assertThat(Leaks.orphans(folder)).isEmpty();
        assertThat(Leaks.referred(folder)).hasSize(3);
    }

    @Test
    void aStrayFileInStorageIsALeak() throws Exception {
        writeCheckpoint();
        Path stray = write("job/shared/stray", KILLED.minusSeconds(1));

        assertThat(Leaks.orphans(folder)).containsExactly(stray);
        assertThat(Leaks.fault(Set.of(stray), ONE_KILL, 3))
                .contains("1 files", "belong to no checkpoint", "shared/stray");
        assertThat(Leaks.fault(Set.of(stray), List.of(), 3)).contains("shared/stray");
    }

    @Test
    void aFileOfWhenAProcessWasKilledIsNone() throws Exception {
        Path left = write("job/shared/left", KILLED.plusSeconds(1));

        assertThat(Leaks.fault(Set.of(left), ONE_KILL, 3)).isEmpty();
    }

    @Test
    void moreFilesThanAKillCanLeaveAreALeak() throws Exception {
        Path one = write("job/shared/one", KILLED.plusSeconds(1));
        Path two = write("job/shared/two", KILLED.plusSeconds(1));
        Path three = write("job/shared/three", KILLED.plusSeconds(1));

        assertThat(Leaks.fault(Set.of(one, two), ONE_KILL, 1)).isEmpty();
        assertThat(Leaks.fault(Set.of(one, two, three), ONE_KILL, 1))
                .contains("3 files", "1 kills leave 2 at most");
    }

    @Test
    void filesOfAStoreAndLocalCopiesAreLeaksOnceTheJobHasEnded() throws Exception {
        Path store = write("tm_tm-1/tmp/afterbay_job_1_op_2/000001.seg", KILLED);
        Path copy = write("tm_tm-2/localState/aid_1/jid_2/chk_3/manifest", KILLED);
        write("tm_tm-1/blobStorage/job.jar", KILLED);

        assertThat(Leaks.local(folder)).containsExactlyInAnyOrder(store, copy);
    }

    @Test
    void memoryThatGrowsIsFound() {
        MemoryCurve rising = new MemoryCurve();
        MemoryCurve level = new MemoryCurve();
        for (int i = 0; i < 30; i++) {
            rising.add("tm", 100 + i);
            level.add("tm", 100 + Math.min(i, 10));
        }

        assertThatThrownBy(() -> rising.assertFlat("tm", 9)).hasMessageContaining("tm grows");
        assertThatCode(() -> rising.assertFlat("tm", 10)).doesNotThrowAnyException();
        assertThatCode(() -> level.assertFlat("tm", 0)).doesNotThrowAnyException();
        assertThatThrownBy(() -> rising.assertAtMost(128)).hasMessageContaining("tm took");
        assertThatCode(() -> rising.assertAtMost(129)).doesNotThrowAnyException();
        assertThatThrownBy(() -> new MemoryCurve().assertAtMost(1))
                .hasMessageContaining("never sampled");
        assertThatThrownBy(() -> level.assertFlat("other", 0)).hasMessageContaining("0 samples");
    }

    @Test
    void aSeedRepeatsAPlanWithEventsOfEveryKind() {
        List<SoakPlan.Event> kinds = List.of(KILL, LOSE);

        assertThat(events(new SoakPlan(7, kinds))).isEqualTo(events(new SoakPlan(7, kinds)));
        assertThat(events(new SoakPlan(7, kinds)).subList(0, 2))
                .containsExactlyInAnyOrder(KILL, LOSE);
    }

    private static List<SoakPlan.Event> events(SoakPlan plan) {
        List<SoakPlan.Event> events = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            events.add(plan.next());
        }
        return events;
    }

    @Test
    void theReferenceKnowsEveryPostingInTheArchive() {
        Pages pages = new Pages(3, 64);

        assertThat(archive(new Journal(4, 500), pages))
                .isNotEmpty()
                .isEqualTo(archive(new Journal(4, 500), pages))
                .isNotEqualTo(archive(new Journal(4, 499), pages));
    }

    private static List<String> archive(Journal journal, Pages pages) {
        List<String> lines = new ArrayList<>();
        LedgerReference.lines(journal, pages, lines::add);
        return lines.stream().filter(line -> line.startsWith("archive,")).sorted().toList();
    }

    private Path write(String name, Instant time) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, name);
        return Files.setLastModifiedTime(file, FileTime.from(time));
    }

    /** One incremental checkpoint of one operator: metadata, manifest and a shared file. */
    private void writeCheckpoint() throws IOException {
        StreamStateHandle shared = handle(write("job/shared/base", KILLED));
        StreamStateHandle manifest = handle(write("job/chk-1/manifest", KILLED));
        OperatorState operator = new OperatorState("operator", "uid", new OperatorID(), 1, 128);
        operator.putState(
                0,
                OperatorSubtaskState.builder()
                        .setManagedKeyedState(
                                new IncrementalRemoteKeyedStateHandle(
                                        new UUID(1, 2),
                                        new KeyGroupRange(0, 127),
                                        1,
                                        List.of(HandleAndLocalPath.of(shared, "base")),
                                        List.of(),
                                        manifest,
                                        1))
                        .build());
        try (OutputStream out = Files.newOutputStream(folder.resolve("job/chk-1/_metadata"))) {
            Checkpoints.storeCheckpointMetadata(
                    new CheckpointMetadata(1, List.of(operator), List.of()), out);
        }
    }

    private static StreamStateHandle handle(Path file) throws IOException {
        return new FileStateHandle(
                new org.apache.flink.core.fs.Path(file.toUri()), Files.size(file));
    }
}
