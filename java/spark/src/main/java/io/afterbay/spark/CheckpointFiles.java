package io.afterbay.spark;

import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a file in a checkpoint is, by its name. Whatever is not recognized is written as Spark
 * writes it, in place, which is always right.
 *
 * <pre>
 *   ROOT/offsets/7  ROOT/commits/7  ROOT/sources/0/7  ROOT/sources/0/9.compact
 *   ROOT/state/OPERATOR/PARTITION[/STORE]/8_UUID.changelog[.crc]
 * </pre>
 */
final class CheckpointFiles {
    /** What is done with a file. */
    enum Role {
        /** Published behind the task, before the commit that names it. */
        STATE,
        /** Published when all before it is, and waited for. */
        OFFSETS,
        /** Published when all before it is. */
        COMMIT,
        /** What a source remembers: published when all before it is, and before the offsets. */
        SOURCE,
        /** Written in place, in strict mode when all before it is published. */
        SOURCE_OTHER,
        /** Written in place. */
        OTHER
    }

    private static final Pattern ROOT =
            Pattern.compile("(.+)/(offsets|commits|sources/\\d+|state/\\d+/\\d+(/.*)?)");
    private static final Pattern LOG_FILE = Pattern.compile("\\d+");
    private static final Pattern SOURCE_LOG = Pattern.compile("\\d+(\\.compact)?");

    /** Of checkpoint format v2: names of two attempts differ, and the commit says which counts. */
    private static final Pattern CHANGELOG =
            Pattern.compile(
                    "(\\d+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\\.changelog(\\.crc)?");

    private CheckpointFiles() {}

    /**
     * The checkpoint that a directory of logs or state belongs to, without scheme; null if it
     * belongs to none.
     */
    static @Nullable String root(Path directory) {
        Matcher matcher = ROOT.matcher(path(directory));
        return matcher.matches() ? matcher.group(1) : null;
    }

    /**
     * The checkpoint that a directory of logs or state belongs to, with scheme and authority, which
     * are the same on driver and executors: those that Spark has resolved at the query's start.
     * Null if it belongs to none.
     */
    static @Nullable String location(Path directory) {
        String root = root(directory);
        URI uri = directory.toUri();
        return root == null ? null : new Path(uri.getScheme(), uri.getAuthority(), root).toString();
    }

    /** The role of a file below a root. */
    static Role role(String root, Path file) {
        String below = path(file).substring(root.length() + 1);
        String kind = below.substring(0, Math.max(0, below.indexOf('/')));
        boolean isLog = isLog(file.getName());
        return switch (kind) {
            case "offsets" -> isLog ? Role.OFFSETS : Role.OTHER;
            case "commits" -> isLog ? Role.COMMIT : Role.OTHER;
            case "sources" ->
                    SOURCE_LOG.matcher(file.getName()).matches() ? Role.SOURCE : Role.SOURCE_OTHER;
            case "state" -> CHANGELOG.matcher(file.getName()).matches() ? Role.STATE : Role.OTHER;
            default -> Role.OTHER;
        };
    }

    static boolean isLog(String name) {
        return LOG_FILE.matcher(name).matches();
    }

    /** Version and unique id of a file that is {@link Role#STATE}: a changelog and its checksum. */
    static String state(String target) {
        Matcher matcher = CHANGELOG.matcher(target.substring(target.lastIndexOf('/') + 1));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(target + " is not a changelog");
        }
        return matcher.group(1);
    }

    /** The batch whose end a state file is: it has the version that follows. */
    static long batch(String state) {
        return Long.parseLong(state.substring(0, state.indexOf('_'))) - 1;
    }

    static String offsets(String root, long batch) {
        return root + "/offsets/" + batch;
    }

    static String commit(String root, long batch) {
        return root + "/commits/" + batch;
    }

    /** Without scheme and authority: what lies in one checkpoint lies in one file system. */
    static String path(Path path) {
        return path.toUri().getPath();
    }
}
