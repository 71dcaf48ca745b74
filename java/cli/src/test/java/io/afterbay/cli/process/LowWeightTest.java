package io.afterbay.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On files that look as the kernel's do, and on those of this machine. */
class LowWeightTest {
    private static final long PID = 4711;
    private static final String IO = "default 100\n8:16 300\n";

    @TempDir private Path root;
    private Path membership;
    private Path group;

    @BeforeEach
    void startInAScopeOfItsOwn() throws IOException {
        membership = root.resolve("membership");
        Files.writeString(membership, "4:memory:/other\n0::/user.slice/run-1.scope\n");
        group = Files.createDirectories(root.resolve("user.slice/run-1.scope"));
        Files.writeString(group.resolve("cgroup.procs"), PID + "\n");
        Files.writeString(group.resolve("cpu.weight"), "100\n");
        Files.writeString(group.resolve("io.weight"), IO);
    }

    private LowWeight take() {
        return LowWeight.take(root, membership, PID);
    }

    private String read(String file) throws IOException {
        return Files.readString(group.resolve(file)).strip();
    }

    private void assertStaysAsItIs() throws IOException {
        try (LowWeight weight = take()) {
            assertThat(weight.cpu()).isNull();
            assertThat(weight.io()).isNull();
            assertThat(read("cpu.weight")).isEqualTo("100");
            assertThat(read("io.weight")).isEqualTo(IO.strip());
        }
        assertThat(read("cpu.weight")).isEqualTo("100");
    }

    @Test
    void aGroupOfItsOwnHasLowWeightsUntilItIsClosed() throws Exception {
        try (LowWeight weight = take()) {
            assertThat(weight.cpu()).isEqualTo(LowWeight.LOW);
            assertThat(weight.io()).isEqualTo(LowWeight.LOW);
            assertThat(read("cpu.weight")).isEqualTo("10");
            assertThat(read("io.weight")).isEqualTo("default 10");
        }
        assertThat(read("cpu.weight")).isEqualTo("100");
        assertThat(read("io.weight")).isEqualTo("default 100");
    }

    /** The user's shell, or the live job. */
    @Test
    void aGroupInWhichAnotherProcessIsStaysAsItIs() throws Exception {
        Files.writeString(group.resolve("cgroup.procs"), "1234\n" + PID + "\n");
        assertStaysAsItIs();
    }

    @Test
    void aGroupThatHasGroupsBelowStaysAsItIs() throws Exception {
        Files.createDirectory(group.resolve("live"));
        assertStaysAsItIs();
    }

    /** Of another process namespace, the kernel shows a 0. */
    @Test
    void aGroupWhoseProcessesAreNotShownStaysAsItIs() throws Exception {
        Files.writeString(group.resolve("cgroup.procs"), "0\n");
        assertStaysAsItIs();
    }

    /** By {@code systemd-run -p CPUWeight=20}, for example. */
    @Test
    void aWeightThatSomebodyHasChosenStays() throws Exception {
        Files.writeString(group.resolve("cpu.weight"), "20\n");
        Files.writeString(group.resolve("io.weight"), "default 500\n");
        try (LowWeight weight = take()) {
            assertThat(weight.cpu()).isEqualTo(20);
            assertThat(weight.io()).isNull();
        }
        assertThat(read("cpu.weight")).isEqualTo("20");
        assertThat(read("io.weight")).isEqualTo("default 500");
    }

    @Test
    void aWeightThatSomebodyChoosesMeanwhileStays() throws Exception {
        try (LowWeight weight = take()) {
            assertThat(weight.cpu()).isEqualTo(LowWeight.LOW);
            Files.writeString(group.resolve("cpu.weight"), "50\n");
        }
        assertThat(read("cpu.weight")).isEqualTo("50");
        assertThat(read("io.weight")).isEqualTo("default 100");
    }

    /** Its controller is not enabled there, as that of disks is not for users. */
    @Test
    void aWeightThatIsNotThereIsNotMade() throws Exception {
        Files.delete(group.resolve("io.weight"));
        try (LowWeight weight = take()) {
            assertThat(weight.cpu()).isEqualTo(LowWeight.LOW);
            assertThat(weight.io()).isNull();
        }
        assertThat(group.resolve("io.weight")).doesNotExist();
    }

    @Test
    void whatCannotBeWrittenOrReadIsNoFailure() throws Exception {
        Path cpu = group.resolve("cpu.weight");
        assertThat(cpu.toFile().setReadOnly()).isTrue();
        Files.writeString(group.resolve("io.weight"), "default many\n");
        boolean isRoot = Files.isWritable(cpu);
        try (LowWeight weight = take()) {
            assertThat(weight.cpu()).isEqualTo(isRoot ? LowWeight.LOW : null);
            assertThat(weight.io()).isNull();
        }
        assertThat(read("cpu.weight")).isEqualTo("100");
        assertThat(read("io.weight")).isEqualTo("default many");
    }

    @Test
    void withoutCgroupsOfThatVersionThereIsNone() throws Exception {
        Files.writeString(membership, "4:memory:/other\n");
        assertStaysAsItIs();
        Files.delete(membership);
        assertStaysAsItIs();
    }

    /** This process has a parent at least, and mostly shares its group with it. */
    @Test
    void onThisMachineNothingIsLeftChanged() throws IOException {
        LowWeight weight = LowWeight.take();
        weight.close();
        try (LowWeight again = LowWeight.take()) {
            assertThat(again.cpu()).isEqualTo(weight.cpu());
            assertThat(again.io()).isEqualTo(weight.io());
        }
    }
}
