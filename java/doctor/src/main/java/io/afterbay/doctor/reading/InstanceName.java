package io.afterbay.doctor.reading;

import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which instance of which stage a log belongs to.
 *
 * <table>
 * <caption>Where names come from</caption>
 * <tr><th>engine</th><th>path of the log</th><th>stage</th><th>instance</th></tr>
 * <tr><td>Flink</td><td>{@code job_JOB_op_OPERATOR_HASH__3_16__uuid_UUID/db/LOG}, or the same as a
 * file name that ends with {@code _LOG}, in the log directory</td><td>operator and the beginning of
 * its hash</td><td>{@code 3/16}</td></tr>
 * <tr><td>Kafka Streams</td><td>{@code 0_3/rocksdb/STORE/LOG}; of window and session stores, {@code
 * 0_3/STORE/STORE.1763866800000/LOG}, whose segments are one instance, since they follow each other;
 * of versioned stores, {@code 0_3/STORE/STORE-segments/LOG}</td><td>store</td><td>task</td></tr>
 * <tr><td>others</td><td>{@code PARENT/FOLDER/LOG}</td><td>parent</td><td>folder</td></tr>
 * </table>
 *
 * <p>The worker of Flink is the folder {@code tm_NAME} in the path, where the TaskManager keeps its
 * files; else the folder of the logs, or of the jobs. That of Kafka Streams is {@code state.dir}.
 *
 * @param origin job and worker
 * @param key the same for the current and the rotated logs of an instance, and for a subtask of a
 *     Flink job before and after a restart
 */
public record InstanceName(
        Engine engine, Origin origin, String stage, String instance, String key) {
    private static final Pattern ROTATED = Pattern.compile("(?:\\.old(?:\\.\\d+)?)?(?:\\.gz)?$");
    private static final Pattern RELOCATED = Pattern.compile("_LOG$");
    private static final Pattern FLINK =
            Pattern.compile(
                    "job_([0-9a-f]{32})_op_([^/]+?)_([0-9a-f]{32})__(\\d+)_(\\d+)__uuid_[0-9a-f-]+");
    private static final Pattern KAFKA =
            Pattern.compile("(?:(.*)/)?([^/]*)/([^/]*\\d+_\\d+)/rocksdb/([^/]+)/LOG$");

    /**
     * Before a segment's time was a minus (and minutes behind it), then a colon; now a full stop.
     */
    private static final Pattern KAFKA_SEGMENT =
            Pattern.compile(
                    "(?:(.*)/)?([^/]*)/([^/]*\\d+_\\d+)/([^/]+)/\\4"
                            + "(?:[.:]\\d+|-\\d{12}|-(segments|latestValues))/LOG$");

    private static final Pattern TASK_MANAGER = Pattern.compile("(?:^|/)(tm_[^/]+)/");
    private static final int JOB_LENGTH = 8;
    private static final int HASH_LENGTH = 6;

    /** Of no job that is known. */
    public InstanceName(Engine engine, String stage, String instance, String key) {
        this(engine, Origin.UNKNOWN, stage, instance, key);
    }

    InstanceName ofColumnFamily(String family) {
        String database = stage.isEmpty() ? instance : stage + "/" + instance;
        return new InstanceName(engine, origin, database, family, key + "/" + family);
    }

    /** Never fails: what is not known is named by its folder. */
    public static InstanceName of(Path log) {
        String current = databaseOf(log);
        return ofFlink(current)
                .or(() -> ofKafka(KAFKA.matcher(current), ""))
                .or(() -> ofKafkaSegment(KAFKA_SEGMENT.matcher(current)))
                .orElseGet(() -> ofFolder(current));
    }

    /** The same for the current and the rotated logs of one database: the path of the current. */
    static String databaseOf(Path log) {
        String path = log.toAbsolutePath().normalize().toString().replace('\\', '/');
        return ROTATED.matcher(path).replaceFirst("");
    }

    private static Optional<InstanceName> ofFlink(String path) {
        Matcher matcher = FLINK.matcher(path);
        if (!matcher.find()) {
            return Optional.empty();
        }
        String hash = matcher.group(3);
        return Optional.of(
                new InstanceName(
                        Engine.FLINK,
                        new Origin(
                                matcher.group(1).substring(0, JOB_LENGTH),
                                taskManager(path.substring(0, matcher.start()))),
                        matcher.group(2) + " " + hash.substring(0, HASH_LENGTH),
                        matcher.group(4) + "/" + matcher.group(5),
                        matcher.group(1) + "/" + hash + "/" + matcher.group(4)));
    }

    /** From what is before the name of the instance. */
    private static String taskManager(String before) {
        Matcher matcher = TASK_MANAGER.matcher(before);
        return matcher.find() ? matcher.group(1) : parentOf(before);
    }

    private static Optional<InstanceName> ofKafkaSegment(Matcher matcher) {
        if (!matcher.find()) {
            return Optional.empty();
        }
        String part = matcher.group(5);
        return ofKafka(matcher.reset(), part == null ? "" : " " + part);
    }

    /**
     * @param part of the store, if it has several databases at a time
     */
    private static Optional<InstanceName> ofKafka(Matcher matcher, String part) {
        if (!matcher.find()) {
            return Optional.empty();
        }
        @Nullable String directory = matcher.group(1);
        Origin origin = new Origin(matcher.group(2), directory == null ? "" : directory);
        String store = matcher.group(4);
        String instance = matcher.group(3) + part;
        String key = String.join("/", origin.worker(), origin.job(), instance, store);
        return Optional.of(new InstanceName(Engine.KAFKA_STREAMS, origin, store, instance, key));
    }

    private static InstanceName ofFolder(String path) {
        int name = path.lastIndexOf('/') + 1;
        String file = path.substring(name);
        String folder = name > 1 ? path.substring(0, name - 1) : "";
        if (RELOCATED.matcher(file).find()) {
            String instance = RELOCATED.matcher(file).replaceFirst("");
            return new InstanceName(Engine.ROCKSDB, lastOf(folder), instance, path);
        }
        return new InstanceName(Engine.ROCKSDB, lastOf(parentOf(folder)), lastOf(folder), path);
    }

    private static String lastOf(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String parentOf(String path) {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }
}
