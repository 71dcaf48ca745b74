package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuGroupTest {
    private static final int FIRST = 700;

    @TempDir private Path root;

    /** That of the kernel, where it may be made. */
    static CpuGroup open(int number, int percent) {
        try {
            return CpuGroup.open(number, percent);
        } catch (IOException e) {
            Assumptions.abort("cgroups are not to be written here: " + e.getMessage());
            throw new AssertionError(e);
        }
    }

    private CpuGroup open(String membership, int percent) throws IOException {
        return CpuGroup.open(
                root, Files.writeString(root.resolve("membership"), membership), FIRST, percent);
    }

    private Path directory(String... parent) {
        String name = "afterbay-%d-%d".formatted(ProcessHandle.current().pid(), FIRST);
        return Path.of(root.toString(), parent).resolve(name);
    }

    private Path parent(String... parent) throws IOException {
        return Files.createDirectories(Path.of(root.toString(), parent));
    }

    private static String read(Path directory, String file) throws IOException {
        return Files.readString(directory.resolve(file));
    }

    /** The kernel counts in how many periods the limit was reached. */
    @Test
    void theKernelHoldsThreadsBackWhichHaveUsedUpTheirPart() throws Exception {
        try (CpuGroup limited = open(FIRST, 10);
                CpuGroup other = open(FIRST + 1, 10)) {
            Thread thread = new Thread(() -> workUntilHeldBack(limited));
            thread.start();
            thread.join();
            assertThat(limited.heldBack()).isPositive();
            assertThat(other.heldBack()).as("control: nobody is in it").isZero();
        }
    }

    private static void workUntilHeldBack(CpuGroup group) {
        try {
            group.enter();
            while (group.heldBack() == 0) {
                LimitedWorkers.work(1_000_000);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Threads go on where they came from, and nothing is left. */
    @Test
    void aClosedOneIsGoneAndItsThreadsAreFree() throws Exception {
        CpuGroup group = open(FIRST, 50);
        Thread thread = new Thread(() -> sleepIn(group));
        thread.start();
        while (group.threads() == 0) {
            Thread.onSpinWait();
        }
        group.close();
        assertThatThrownBy(group::threads).isInstanceOf(IOException.class);
        assertThat(thread.isAlive()).isTrue();
        thread.interrupt();
        thread.join();
    }

    private static void sleepIn(CpuGroup group) {
        try {
            group.enter();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Sleep.nanos(Long.MAX_VALUE / 2);
    }

    @Test
    void version1HasAQuotaOfEachPeriod() throws Exception {
        parent("cpu,cpuacct", "a", "b");
        try (CpuGroup group = open("9:memory:/x\n3:cpu,cpuacct:/a/b\n0::/a\n", 65)) {
            Path directory = directory("cpu,cpuacct", "a", "b");
            assertThat(read(directory, "cpu.cfs_period_us")).isEqualTo("20000");
            assertThat(read(directory, "cpu.cfs_quota_us")).isEqualTo("13000");
            group.enter();
            assertThat(read(directory, "tasks")).isEqualTo("0");
        }
    }

    @Test
    void version2HasAGroupOfThreads() throws Exception {
        Path parent = parent("user.slice");
        Files.writeString(parent.resolve("cgroup.controllers"), "cpuset cpu io\n");
        Files.writeString(parent.resolve("cgroup.subtree_control"), "\n");
        try (CpuGroup group = open("0::/user.slice\n", 50)) {
            Path directory = directory("user.slice");
            assertThat(read(parent, "cgroup.subtree_control")).isEqualTo("+cpu");
            assertThat(read(directory, "cgroup.type")).isEqualTo("threaded");
            assertThat(read(directory, "cpu.max")).isEqualTo("10000 20000");
            group.enter();
            assertThat(read(directory, "cgroup.threads")).isEqualTo("0");
        }
    }

    @Test
    void whatAKilledProcessLeftIsRemoved() throws Exception {
        parent("cpu");
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        Path left = parent("cpu", "afterbay-" + ended.pid() + "-0");
        Files.createDirectory(directory("cpu"));
        Path ofAnother = parent("cpu", "afterbay-1-0");
        Path nobodys = parent("cpu", "afterbay-" + ended.pid());
        open("1:cpu:/\n", 50).close();
        assertThat(left).doesNotExist();
        assertThat(ofAnother).exists();
        assertThat(nobodys).exists();
    }

    @Test
    void withoutAControllerItSaysWhereItLooked() throws Exception {
        Path parent = parent("user.slice");
        Files.writeString(parent.resolve("cgroup.controllers"), "memory cpuset\n");
        assertThatThrownBy(() -> open("0::/user.slice\n", 50))
                .isInstanceOf(IOException.class)
                .hasMessage("no controller of processor time in " + root.resolve("membership"));
    }

    @Test
    void whatCannotBeMadeIsNamed() {
        assertThatThrownBy(() -> open("1:cpu:/gone\n", 50))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(root.resolve("cpu/gone").toString());
    }

    @Test
    void noLimitsAreNoGroups() throws Exception {
        try (LimitedWorkers none = LimitedWorkers.open(List.of())) {
            assertThat(none.isEmpty()).isTrue();
            none.enter(6700);
        }
    }
}
