package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.doctor.Doctor;
import io.afterbay.doctor.live.LiveCounters;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncInstance;
import io.afterbay.rocksdb.DesyncSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.UnicastRemoteObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.management.jmx.JMXService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import picocli.CommandLine;

/** {@code afterbay doctor --live}, on this process and the JMX port as Flink opens it. */
class DoctorLiveTest {
    @TempDir private Path directory;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private String address;

    @BeforeEach
    void open() {
        RocksDB.loadLibrary();
        JMXService.startInstance("20000-30000");
        address = "localhost:" + JMXService.getPort().orElseThrow();
    }

    @AfterEach
    void close() throws IOException {
        JMXService.stopInstance();
    }

    private int run(String... more) {
        CommandLine command = Doctor.commandLine();
        command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        String[] args = new String[1 + more.length];
        args[0] = "--live=" + address;
        System.arraycopy(more, 0, args, 1, more.length);
        return command.execute(args);
    }

    private void flush(int times) throws Exception {
        DesyncInstance instance = Desync.open(Env.getDefault(), 0.5, DesyncSettings.defaults());
        try (DBOptions db = instance.configure(new DBOptions().setCreateIfMissing(true));
                ColumnFamilyOptions family = instance.configure(new ColumnFamilyOptions());
                Options options = new Options(db, family);
                FlushOptions now = new FlushOptions();
                RocksDB rocks = RocksDB.open(options, directory.resolve("db").toString())) {
            for (int i = 0; i < times; i++) {
                rocks.put(new byte[] {1}, new byte[] {(byte) i});
                rocks.flush(now);
            }
            assertThat(run("--json")).as(err.toString()).isZero();
            JsonNode values =
                    new ObjectMapper()
                            .readTree(out.toString())
                            .get("coordinators")
                            .get(0)
                            .get("values");
            assertThat(values.get("instances").asInt()).isEqualTo(1);
            assertThat(values.get("flushesBegan").asInt()).isEqualTo(times);
            out.getBuffer().setLength(0);
            assertThat(run()).isZero();
        } finally {
            instance.close();
        }
    }

    @Test
    void saysWhatTheProcessCounts() throws Exception {
        flush(2);
        assertThat(out.toString())
                .startsWith("Too little to say: ")
                .contains("instances    1 open", "2 flushes, 0 compactions");
    }

    @Test
    void withoutCountersItSaysHowToGetThem() {
        assertThat(run()).isEqualTo(1);
        assertThat(err.toString())
                .contains("nothing can be said")
                .contains(
                        "options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory",
                        "rocksdb.config.setter=io.afterbay.kafka.DesyncRocksDBConfigSetter");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void logsAndCountersAreNotMixed() {
        assertThat(run("LOG")).isEqualTo(2);
        assertThat(err.toString()).contains("--live");
    }

    private void assertFails(String wrong, String... words) {
        address = wrong;
        assertThat(run()).isEqualTo(1);
        assertThat(err.toString()).contains("--live " + wrong).contains(words);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aPortOnWhichNobodyListensIsNamed() {
        assertFails("localhost:1", "refused", "jmx.server.port");
    }

    @Test
    void addressesWithoutAPortAreRefused() {
        assertFails("localhost", "HOST:PORT");
    }

    @Test
    void registriesWithoutJmxAreNamed() throws Exception {
        List<ServerSocket> opened = new ArrayList<>();
        RMIServerSocketFactory sockets =
                any -> {
                    opened.add(new ServerSocket(any));
                    return opened.get(0);
                };
        Registry registry = LocateRegistry.createRegistry(0, null, sockets);
        try {
            assertFails("localhost:" + opened.get(0).getLocalPort(), "registry without JMX");
        } finally {
            UnicastRemoteObject.unexportObject(registry, true);
        }
    }

    /** A port that takes connections and never says anything. */
    @Test
    void aProcessThatDoesNotAnswerIsGivenUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0)) {
            assertThatThrownBy(
                            () ->
                                    LiveCounters.read(
                                            "localhost:" + silent.getLocalPort(),
                                            Duration.ofSeconds(1)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no answer within 1 s");
        }
        assertThat(System.getProperty("sun.rmi.transport.tcp.responseTimeout")).isNull();
    }
}
