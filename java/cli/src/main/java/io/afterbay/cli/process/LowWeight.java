package io.afterbay.cli.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Low weights of the cgroup that this process is in, for as long as it and its children are all
 * that is there (Linux, cgroups of version 2). The kernel shares the CPU, and disks that can, among
 * groups beside each other by their weights, however nice the processes in them are.
 *
 * <p>It is the weight of the group itself that is set. A child group of a low weight would change
 * nothing: it is weighed against its siblings only, which would be this process alone, and among
 * processes of one group {@code nice} does the same. A group beside this one would belong to
 * whoever manages the parent, such as systemd, and might have a larger share than this one, if the
 * parent is another.
 *
 * <p>Nothing is moved, and a group in which anything else is, such as the user's shell, stays as it
 * is. So does a weight that somebody has chosen. Whatever cannot be read or written is no failure.
 *
 * <p>A process that is killed leaves them low. A scope of systemd or a container ends with it. In a
 * group that outlives it, the next process takes them for weights that somebody has chosen.
 */
public final class LowWeight implements AutoCloseable {
    /** A tenth, which is what {@code nice -n 10} has among processes. */
    static final int LOW = 10;

    /** Of every group for which nobody has chosen another one. */
    static final int USUAL = 100;

    /** For what has no process of its own on this machine. */
    public static final LowWeight NONE = new LowWeight(null);

    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
    private static final String MEMBERSHIP_OF_V2 = "0::/";

    private final List<Weight> changed = new ArrayList<>();
    private final @Nullable Integer cpu;
    private final @Nullable Integer io;

    /**
     * A weight of a group.
     *
     * @param prefix in its file, before the number
     */
    private record Weight(Path file, String prefix) {
        /** Empty if there is none, as where the controller is not enabled. */
        OptionalInt read() {
            try (Stream<String> lines = Files.lines(file)) {
                return lines.filter(line -> line.startsWith(prefix))
                        .mapToInt(line -> Integer.parseInt(line.substring(prefix.length()).strip()))
                        .findFirst();
            } catch (IOException | RuntimeException e) {
                return OptionalInt.empty();
            }
        }

        boolean is(int value) {
            return read().orElse(0) == value;
        }

        void write(int value) {
            try {
                Files.writeString(file, prefix + value);
            } catch (IOException e) {
                // Another user owns it, or it is mounted for reading: it stays as it is.
            }
        }
    }

    private LowWeight(@Nullable Path group) {
        this.cpu = group == null ? null : lower(new Weight(group.resolve("cpu.weight"), ""));
        this.io = group == null ? null : lower(new Weight(group.resolve("io.weight"), "default "));
    }

    /** Makes them low until this is closed, where that may be done. Never fails. */
    public static LowWeight take() {
        return take(ROOT, MEMBERSHIP, ProcessHandle.current().pid());
    }

    /**
     * @param root where cgroups are mounted
     * @param membership of this process
     */
    static LowWeight take(Path root, Path membership, long pid) {
        try {
            return group(root, membership)
                    .filter(group -> isAlone(group, pid))
                    .map(LowWeight::new)
                    .orElse(NONE);
        } catch (RuntimeException e) {
            return NONE; // an odd path, or a security manager
        }
    }

    private static Optional<Path> group(Path root, Path membership) {
        try (Stream<String> lines = Files.lines(membership)) {
            return lines.filter(line -> line.startsWith(MEMBERSHIP_OF_V2))
                    .map(line -> root.resolve(line.substring(MEMBERSHIP_OF_V2.length())))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean isAlone(Path group, long pid) {
        try (Stream<Path> entries = Files.list(group)) {
            List<String> processes = Files.readAllLines(group.resolve("cgroup.procs"));
            return processes.equals(List.of(Long.toString(pid)))
                    && entries.noneMatch(Files::isDirectory);
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the weight that it has now; null if that is not low. */
    private @Nullable Integer lower(Weight weight) {
        if (weight.is(USUAL)) {
            weight.write(LOW);
            if (weight.is(LOW)) {
                changed.add(weight);
            }
        }
        OptionalInt now = weight.read();
        return now.isPresent() && now.getAsInt() < USUAL ? now.getAsInt() : null;
    }

    /** The weight for the CPU, from 1 to 99 where 100 is usual; null if it is not low. */
    public @Nullable Integer cpu() {
        return cpu;
    }

    /** The same for disks. */
    public @Nullable Integer io() {
        return io;
    }

    /** Makes them what they were, unless somebody has chosen others meanwhile. */
    @Override
    public void close() {
        changed.stream().filter(weight -> weight.is(LOW)).forEach(weight -> weight.write(USUAL));
    }
}
