package io.afterbay.cli.process;

import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A memory cgroup of Linux for one process: what the process uses and what the kernel caches of its
 * files stay within a limit together. Version 2 where the memory controller is there, else version
 * 1.
 */
public final class MemoryCgroup implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final Path ROOT_V1 = ROOT.resolve("memory");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
    private static final int REMOVE_ATTEMPTS = 50;

    private final Path directory;

    private MemoryCgroup(Path directory) {
        this.directory = directory;
    }

    /**
     * Makes a group with this limit and without swap.
     *
     * @throws CommandFailure if there are no cgroups here, or no permission
     */
    public static MemoryCgroup create(ByteSize limit) throws CommandFailure {
        Path parent = parent();
        try {
            Path directory = Files.createTempDirectory(parent, "afterbay-");
            MemoryCgroup group = new MemoryCgroup(directory);
            group.limit(limit.bytes());
            return group;
        } catch (IOException e) {
            throw new CommandFailure(
                    "--cgroup-limit: cannot limit memory below %s: %s; run as root, or as a user"
                                    .formatted(parent, CommandFailure.reason(e))
                            + " with a delegated group (systemd-run --user --scope -p Delegate=yes"
                            + " ./afterbay ...), or leave the option out: results are page-cached"
                            + " then",
                    e);
        }
    }

    private static Path parent() throws CommandFailure {
        return Stream.concat(version2().stream(), version1().stream())
                .filter(Files::isDirectory)
                .findFirst()
                .orElseThrow(
                        () ->
                                new CommandFailure(
                                        "--cgroup-limit: there is no memory cgroup below "
                                                + ROOT
                                                + "; this needs Linux with cgroups mounted, leave"
                                                + " the option out elsewhere: results are"
                                                + " page-cached then"));
    }

    /** Our own group or the nearest one above that hands the memory controller on. */
    private static List<Path> version2() {
        List<Path> groups = new ArrayList<>();
        for (Path group = own("0::", ROOT); group != null; group = above(group, ROOT)) {
            if (read(group.resolve("cgroup.subtree_control")).contains("memory")) {
                groups.add(group);
            }
        }
        return groups;
    }

    /** Our own group; in a container that does not show it, the root. */
    private static List<Path> version1() {
        return List.of(own(":memory:", ROOT_V1), ROOT_V1);
    }

    private static Path own(String controller, Path root) {
        return read(MEMBERSHIP)
                .lines()
                .filter(line -> line.contains(controller))
                .map(line -> line.substring(line.indexOf(controller) + controller.length()))
                .map(path -> root.resolve(path.substring(1)))
                .findFirst()
                .orElse(root);
    }

    private static @Nullable Path above(Path group, Path root) {
        return group.equals(root) ? null : group.getParent();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }

    private void limit(long bytes) throws IOException {
        try {
            if (isVersion1()) {
                write("memory.limit_in_bytes", bytes);
                writeIfThere("memory.memsw.limit_in_bytes", bytes);
            } else {
                write("memory.max", bytes);
                writeIfThere("memory.swap.max", 0);
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private boolean isVersion1() {
        return Files.exists(directory.resolve("memory.limit_in_bytes"));
    }

    private void writeIfThere(String file, long value) throws IOException {
        if (Files.exists(directory.resolve(file))) {
            write(file, value);
        }
    }

    private void write(String file, long value) throws IOException {
        Files.writeString(directory.resolve(file), Long.toString(value));
    }

    /** The same command, within the group from its first instruction on. */
    public List<String> within(List<String> command) {
        List<String> wrapped = new ArrayList<>();
        wrapped.addAll(List.of("sh", "-c", "echo $$ >\"$0\" && exec \"$@\""));
        wrapped.add(directory.resolve("cgroup.procs").toString());
        wrapped.addAll(command);
        return wrapped;
    }

    /** Whether the kernel has killed a process of the group, which needed more than the limit. */
    public boolean hasKilled() {
        return Stream.of("memory.events", "memory.oom_control")
                .flatMap(file -> read(directory.resolve(file)).lines())
                .anyMatch(line -> line.startsWith("oom_kill ") && !line.endsWith(" 0"));
    }

    /** Removes the group; its process has ended, which the kernel may notice a little later. */
    @Override
    public void close() {
        for (int attempt = 0; attempt < REMOVE_ATTEMPTS; attempt++) {
            if (directory.toFile().delete()) {
                return;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        }
        System.err.println("afterbay: " + directory + " could not be removed; remove it by hand");
    }
}
