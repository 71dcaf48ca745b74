package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What can be said without one. */
class MosquittoTest {
    @TempDir Path directory;

    private Path program(String folder, String script) throws Exception {
        Path file = Files.createDirectories(directory.resolve(folder)).resolve("mosquitto");
        Files.writeString(file, "#!/bin/sh\n" + script);
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    @Test
    void whoHasNoneHearsWhatToDo() {
        assertThatThrownBy(() -> Mosquitto.find("", List.of(directory.toString())))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("neither in PATH nor in " + directory)
                .hasMessageContaining("apt-get install mosquitto")
                .hasMessageContaining("--mosquitto FILE")
                .hasMessageContaining("--mqtt mqtt://HOST:PORT");
        assertThatThrownBy(() -> Mosquitto.start(directory.resolve("none"), directory))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("--mosquitto %s/none: is no program", directory);
    }

    @Test
    void thatOfThePathComesFirst() throws Exception {
        Path server = program("sbin", "");
        List<String> folders = List.of(directory.resolve("sbin").toString());
        assertThat(Mosquitto.find("/nowhere:", folders)).isEqualTo(server);
        Path own = program("bin", "");
        assertThat(Mosquitto.find(directory.resolve("bin").toString(), folders)).isEqualTo(own);
    }

    /** Its reason is the last line that it has said. */
    @Test
    void oneThatDoesNotStartSaysWhy() throws Exception {
        Path broken = program("broken", "echo 'Error: Unknown configuration' >&2; exit 3");
        assertThatThrownBy(() -> Mosquitto.start(broken, directory))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("mosquitto: Error: Unknown configuration");
    }

    @Test
    void aPortThatIsTakenIsAnother() throws Exception {
        Path count = directory.resolve("count");
        Path later =
                program(
                        "later",
                        """
                        echo x >> '%1$s'
                        if [ $(wc -l < '%1$s') -lt 3 ]; then
                            echo '1: Error: Address already in use' >&2
                            exit 1
                        fi
                        grep listener "$2" > '%1$s.port'
                        echo '1: mosquitto version 2.0.11 running' >&2
                        exec sleep 1000
                        """
                                .formatted(count));
        try (Mosquitto broker = Mosquitto.start(later, directory)) {
            broker.look();
            assertThat(Path.of(count + ".port"))
                    .hasContent("listener %d 127.0.0.1".formatted(broker.address().port()));
        }
        assertThat(Files.readAllLines(count)).hasSize(3);
    }
}
