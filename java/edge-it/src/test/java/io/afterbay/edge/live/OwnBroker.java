package io.afterbay.edge.live;

import io.afterbay.edge.mqtt.BrokerAddress;
import io.afterbay.testing.Await;
import io.afterbay.testing.OwnHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A mosquitto of the user's own, which keeps what it has acknowledged when it is asked to end. */
final class OwnBroker implements AutoCloseable {
    private final Path mosquitto;
    private final Path settings;
    private final Path said;
    private final BrokerAddress address;
    private Process process;

    OwnBroker(Path mosquitto, Path directory) throws Exception {
        this.mosquitto = mosquitto;
        this.said = directory.resolve("mosquitto.log");
        this.address = new BrokerAddress(OwnHost.address(), OwnHost.freePort());
        this.settings =
                Files.writeString(
                        directory.resolve("own.conf"),
                        """
                        listener %d %s
                        allow_anonymous true
                        user root
                        persistence true
                        persistence_location %s/
                        max_queued_messages 0
                        # Else all of them wait in the buffers of sockets.
                        max_inflight_bytes 2000
                        log_dest stderr
                        connection_messages true
                        """
                                .formatted(address.port(), address.host(), directory));
        this.process = begin();
    }

    BrokerAddress address() {
        return address;
    }

    /** At the same address, with what it has kept. */
    void start() throws Exception {
        process = begin();
    }

    private Process begin() throws Exception {
        Process begun =
                new ProcessBuilder(mosquitto.toString(), "-c", settings.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
        Await.until("mosquitto runs", () -> said(" running") > 0 || !begun.isAlive());
        return begun;
    }

    /** How often the one that was started last has said so. */
    long said(String what) throws IOException {
        try (var lines = Files.lines(said)) {
            return lines.filter(line -> line.contains(what)).count();
        }
    }

    /** Asks it to end. */
    void stop() throws InterruptedException {
        process.destroy();
        process.waitFor();
    }

    /** As kill -9 does. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(1, TimeUnit.MINUTES);
    }
}
