package io.afterbay.flink.it.cluster;

import io.afterbay.testing.Await;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.util.FileUtils;

/**
 * A ZooKeeper server, in a JVM of its own. It takes any free port, and says which in its log; its
 * logging is that of Flink's {@code lib}.
 */
public final class ZooKeeper implements AutoCloseable {
    private static final Pattern BOUND = Pattern.compile("bound to port \\S+:([1-9]\\d*)");

    private final Path folder;
    private final JvmProcess process;
    private int port;

    private ZooKeeper(Path folder, JvmProcess process) {
        this.folder = folder;
        this.process = process;
    }

    /** Starts a server, and waits until it listens. */
    public static ZooKeeper start() throws Exception {
        Path folder =
                Files.createTempDirectory(
                                Files.createDirectories(Artifacts.workDir()), "zookeeper-")
                        .toAbsolutePath();
        ZooKeeper server = new ZooKeeper(folder, launch(folder));
        try {
            server.awaitPort();
            return server;
        } catch (Throwable e) {
            System.err.println(server.tail());
            server.close();
            throw e;
        }
    }

    private static JvmProcess launch(Path folder) throws IOException {
        Path logging =
                Files.writeString(folder.resolve("log4j.properties"), FlinkHome.CONSOLE_LOGGING);
        Path config = Files.writeString(folder.resolve("zoo.cfg"), config(folder));
        List<String> command = new ArrayList<>(List.of(FlinkHome.java(), "-Xmx64m"));
        command.addAll(OwnJvm.SHORT_LIVED);
        command.addAll(
                List.of(
                        "-Dlog4j.configurationFile=file:" + logging,
                        "-classpath",
                        "%s/*:%s/*".formatted(Artifacts.zooKeeperLib(), Artifacts.flinkLib()),
                        "org.apache.zookeeper.server.ZooKeeperServerMain",
                        config.toString()));
        return JvmProcess.start("zookeeper", folder, command, folder.resolve("zookeeper.log"));
    }

    private static String config(Path folder) {
        return """
                dataDir=%s
                clientPort=0
                clientPortAddress=localhost
                tickTime=1000
                admin.enableServer=false
                """
                .formatted(data(folder));
    }

    private static Path data(Path folder) {
        return folder.resolve("data");
    }

    private void awaitPort() throws Exception {
        Await.until(
                () -> "ZooKeeper to listen",
                () -> {
                    if (!process.isAlive()) {
                        throw new IllegalStateException("ZooKeeper ended; see " + folder);
                    }
                    Matcher bound = BOUND.matcher(process.log());
                    port = bound.find() ? Integer.parseInt(bound.group(1)) : 0;
                    return port != 0;
                });
    }

    /** Its address, as Flink's configuration has it. */
    public String quorum() {
        return "localhost:" + port;
    }

    /** Where clusters keep what ZooKeeper only points to. */
    public Path storage() {
        return folder.resolve("storage");
    }

    /** The end of the log, for a failed test. */
    public String tail() {
        return process.tail();
    }

    /** Kills the server, and deletes all but its log. */
    @Override
    public void close() {
        process.close();
        FileUtils.deleteDirectoryQuietly(data(folder).toFile());
        FileUtils.deleteDirectoryQuietly(storage().toFile());
    }
}
