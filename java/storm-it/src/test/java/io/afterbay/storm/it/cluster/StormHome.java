package io.afterbay.storm.it.cluster;

import io.afterbay.testing.OwnJvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A directory as Storm's distribution unpacks to, as far as the daemons need it.
 *
 * <pre>
 *   bin/NAME       a script that becomes the program: zookeeper, nimbus, supervisor, client
 *   conf/          storm.yaml, zoo.cfg
 *   lib-worker/    links to the jars that Storm gives its workers
 *   log4j2/        cluster.xml, worker.xml
 *   logs/          NAME.log
 *   local/         what Storm writes, also logs of workers
 * </pre>
 */
record StormHome(Path directory) {
    static final List<Integer> PORTS = List.of(6700, 6701);

    private static final int ZOOKEEPER_PORT = 2181;
    private static final String JVM_OF_WORKERS =
            "-Xmx192m -Djava.net.preferIPv4Stack=true " + String.join(" ", OwnJvm.SHORT_LIVED);

    static StormHome create(Path directory) throws IOException {
        StormHome home = new StormHome(directory.toAbsolutePath());
        for (String folder : List.of("bin", "conf", "lib-worker", "log4j2", "logs", "local")) {
            Files.createDirectories(home.path(folder));
        }
        Files.writeString(home.path("conf/storm.yaml"), home.configuration());
        Files.writeString(home.path("conf/zoo.cfg"), home.zooKeeperConfiguration());
        Files.writeString(home.path("log4j2/cluster.xml"), logging("${sys:logfile.name}"));
        Files.writeString(
                home.path("log4j2/worker.xml"),
                logging("${sys:workers.artifacts}/${sys:storm.id}/${sys:worker.port}/worker.log"));
        home.linkWorkerLib();
        home.writePrograms();
        return home;
    }

    Path path(String name) {
        return directory.resolve(name);
    }

    /**
     * Of storm.yaml. What has ended is seen soon; what is slow on a busy machine is let be. Nimbus
     * waits for longer than a Supervisor does for a silent worker and for the one in its place:
     * else it would move their tasks.
     */
    private String configuration() {
        return """
        storm.zookeeper.servers: [localhost]
        storm.zookeeper.port: %d
        storm.zookeeper.session.timeout: 10000
        nimbus.seeds: [localhost]
        storm.local.hostname: localhost
        storm.local.dir: "%s"
        storm.metricstore.class: org.apache.storm.metricstore.NoOpMetricStore
        supervisor.slots.ports: %s
        nimbus.monitor.freq.secs: 1
        supervisor.monitor.frequency.secs: 1
        supervisor.worker.shutdown.sleep.secs: 1
        nimbus.task.timeout.secs: 600
        nimbus.supervisor.timeout.secs: 600
        nimbus.task.launch.secs: 600
        supervisor.worker.timeout.secs: 100
        supervisor.worker.start.timeout.secs: 200
        worker.childopts: "%s"
        topology.worker.logwriter.childopts: "-Xmx32m %s"
        """
                .formatted(
                        ZOOKEEPER_PORT,
                        path("local"),
                        PORTS,
                        JVM_OF_WORKERS,
                        String.join(" ", OwnJvm.SHORT_LIVED));
    }

    /** No power is cut: a session must not end because a disk takes seconds to sync. */
    private String zooKeeperConfiguration() {
        return """
        dataDir=%s
        clientPort=%d
        clientPortAddress=localhost
        tickTime=1000
        forceSync=no
        admin.enableServer=false
        """
                .formatted(path("zookeeper"), ZOOKEEPER_PORT);
    }

    private static String logging(String file) {
        return """
        <configuration status="error">
          <appenders>
            <File name="file" fileName="%s">
              <PatternLayout pattern="%%d{HH:mm:ss.SSS} %%-5p %%t %%c{1}: %%m%%n"/>
            </File>
          </appenders>
          <loggers>
            <root level="info"><appender-ref ref="file"/></root>
          </loggers>
        </configuration>
        """
                .formatted(file);
    }

    private void linkWorkerLib() throws IOException {
        String jars = Files.readString(Path.of(System.getProperty("afterbay.workerLib")));
        for (String jar : jars.split(File.pathSeparator)) {
            Path file = Path.of(jar);
            Files.createSymbolicLink(path("lib-worker").resolve(file.getFileName()), file);
        }
    }

    private void writePrograms() throws IOException {
        writeProgram(
                "zookeeper",
                "org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServerMain",
                path("conf/zoo.cfg").toString());
        writeProgram("nimbus", "org.apache.storm.daemon.nimbus.Nimbus");
        writeProgram("supervisor", "org.apache.storm.daemon.supervisor.Supervisor");
        writeProgram("client", ClusterClient.class.getName());
    }

    private void writeProgram(String name, String type, String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(
                        OwnJvm.command(
                                type,
                                "-Xmx128m",
                                "-Djava.net.preferIPv4Stack=true",
                                "-Dstorm.home=" + directory,
                                "-Dstorm.log.dir=" + path("logs"),
                                "-Dstorm.conf.file=" + path("conf/storm.yaml"),
                                "-Dstorm.jar=" + topologyJar(),
                                "-Dlogfile.name=" + log(name),
                                "-Dlog4j.configurationFile=" + path("log4j2/cluster.xml")));
        command.addAll(List.of(arguments));
        String script =
                command.stream()
                        .map(StormHome::quoted)
                        .collect(Collectors.joining(" ", "exec ", "\n"));
        Path program = Files.writeString(path("bin/" + name), "#!/bin/sh\n" + script);
        if (!program.toFile().setExecutable(true)) {
            throw new IOException("cannot be made executable: " + program);
        }
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    Path topologyJar() {
        return path("topology.jar");
    }

    /** Where a program and its logging write. */
    Path log(String name) {
        return path("logs/" + name + ".log");
    }

    /** Of all programs and workers, for a failed test. */
    List<Path> logs() throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(file -> file.toString().endsWith(".log")).sorted().toList();
        }
    }
}
