package io.afterbay.storm.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A cgroup for some threads of this process, which limits their processor time (Linux, cgroups of
 * version 1, or of version 2 with threads). It is a child of the group that this process is in.
 *
 * <p>A process that is killed leaves an empty one, which the next one removes.
 */
final class CpuGroup implements AutoCloseable {
    /**
     * Threads that have used up their time wait for the rest of this. It is short, so that a limit
     * is a slower processor, and not one that stands still now and then; and not shorter, since the
     * kernel gives a processor 5 ms of a group's time at once (sched_cfs_bandwidth_slice_us), and
     * the group's threads on other processors get what is left.
     */
    static final int PERIOD_MICROS = 20_000;

    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
    private static final String NAME = "afterbay-";
    private static final String CONTROLLER = "cpu";

    private static final String HELD_BACK = "nr_throttled ";

    /** To the kernel, the thread that writes it. */
    private static final String THIS_THREAD = "0";

    private static final int CLOSE_TRIES = 5;

    /**
     * The group of this process.
     *
     * @param threads the file of the threads of a group
     */
    private record Parent(Path directory, String threads, boolean isVersion1) {}

    private final Parent parent;
    private final Path directory;

    private CpuGroup(Parent parent, Path directory) {
        this.parent = parent;
        this.directory = directory;
    }

    /**
     * @param number different for each group of this process
     * @param percent of one processor
     * @throws IOException if it cannot be made; the message says which file, and why
     */
    static CpuGroup open(int number, int percent) throws IOException {
        return open(ROOT, MEMBERSHIP, number, percent);
    }

    /**
     * @param root where cgroups are mounted
     * @param membership of this process
     */
    static CpuGroup open(Path root, Path membership, int number, int percent) throws IOException {
        Parent parent =
                parent(root, membership)
                        .orElseThrow(
                                () ->
                                        new IOException(
                                                "no controller of processor time in "
                                                        + membership));
        removeLeft(parent.directory);
        String name = NAME + ProcessHandle.current().pid() + "-" + number;
        Path directory = parent.directory.resolve(name);
        // A process before this one had the same number, as in a container.
        remove(directory);
        CpuGroup group = new CpuGroup(parent, Files.createDirectory(directory));
        try {
            group.limit(percent);
        } catch (IOException e) {
            group.close();
            throw e;
        }
        return group;
    }

    private static Optional<Parent> parent(Path root, Path membership) throws IOException {
        Optional<Parent> version2 = Optional.empty();
        for (String line : Files.readAllLines(membership)) {
            String[] parts = line.split(":", 3);
            Path path = Path.of(parts[2].substring(1));
            if (Arrays.asList(parts[1].split(",")).contains(CONTROLLER)) {
                Path directory = root.resolve(parts[1]).resolve(path);
                return Optional.of(new Parent(directory, "tasks", true));
            }
            if (parts[1].isEmpty() && has(root.resolve(path).resolve("cgroup.controllers"))) {
                version2 = Optional.of(new Parent(root.resolve(path), "cgroup.threads", false));
            }
        }
        return version2;
    }

    /** Whether a list of controllers has the one that is needed. */
    private static boolean has(Path controllers) throws IOException {
        return Files.exists(controllers)
                && List.of(Files.readString(controllers).strip().split(" ")).contains(CONTROLLER);
    }

    /** Those of processes that are no more. */
    private static void removeLeft(Path directory) throws IOException {
        try (Stream<Path> children = Files.list(directory)) {
            children.filter(CpuGroup::isLeft).forEach(CpuGroup::remove);
        }
    }

    private static boolean isLeft(Path child) {
        String name = child.getFileName().toString();
        return name.matches(NAME + "\\d{1,10}-\\d+")
                && ProcessHandle.of(Long.parseLong(name.split("-")[1])).isEmpty();
    }

    private void limit(int percent) throws IOException {
        int quotaMicros = PERIOD_MICROS * percent / 100;
        if (parent.isVersion1) {
            write("cpu.cfs_period_us", Integer.toString(PERIOD_MICROS));
            write("cpu.cfs_quota_us", Integer.toString(quotaMicros));
        } else {
            write("cgroup.type", "threaded");
            Path enabled = parent.directory.resolve("cgroup.subtree_control");
            if (!has(enabled)) {
                write(enabled, "+" + CONTROLLER);
            }
            write("cpu.max", quotaMicros + " " + PERIOD_MICROS);
        }
    }

    private void write(String file, String value) throws IOException {
        write(directory.resolve(file), value);
    }

    private static void write(Path file, String value) throws IOException {
        Files.writeString(file, value);
    }

    /** The calling thread has its part of the limit from now on, and threads that it starts. */
    void enter() throws IOException {
        write(parent.threads, THIS_THREAD);
    }

    /** How many threads have entered and not ended. */
    int threads() throws IOException {
        return Files.readAllLines(directory.resolve(parent.threads)).size();
    }

    /** In how many periods its threads were held back, because they had used up their part. */
    long heldBack() throws IOException {
        try (Stream<String> lines = Files.lines(directory.resolve("cpu.stat"))) {
            return lines.filter(line -> line.startsWith(HELD_BACK))
                    .mapToLong(line -> Long.parseLong(line.substring(HELD_BACK.length())))
                    .sum();
        }
    }

    /** Threads that are still in it are without a limit from now on. */
    @Override
    public void close() {
        for (int i = 0; i < CLOSE_TRIES; i++) {
            leave();
            if (remove(directory)) {
                return;
            }
        }
    }

    private void leave() {
        try {
            for (String thread : Files.readAllLines(directory.resolve(parent.threads))) {
                leave(thread);
            }
        } catch (IOException e) {
            // The group is gone: so there is nothing to leave.
        }
    }

    private void leave(String thread) {
        try {
            write(parent.directory.resolve(parent.threads), thread);
        } catch (IOException e) {
            // It has ended meanwhile.
        }
    }

    /** Whether it is gone; not while there are threads in it. */
    private static boolean remove(Path group) {
        try {
            Files.deleteIfExists(group);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
