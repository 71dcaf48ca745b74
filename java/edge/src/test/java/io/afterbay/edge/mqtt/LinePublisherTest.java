package io.afterbay.edge.mqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.mqtt.LinePublisher.Topics;
import io.afterbay.edge.mqtt.ScriptedBroker.Client;
import io.afterbay.edge.mqtt.ScriptedBroker.Message;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Beside a broker that does what brokers may do. */
@Timeout(300)
class LinePublisherTest {
    private static final Topics TOPICS = new Topics("sites/a", "sites/a/end");
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @TempDir Path directory;
    private ScriptedBroker broker;
    private Path file;

    @BeforeEach
    void start() throws IOException {
        broker = new ScriptedBroker();
        file = directory.resolve("a.ndjson");
    }

    @AfterEach
    void stop() throws IOException {
        broker.close();
    }

    private LinePublisher publisher() {
        return LinePublisher.start(file, broker.address(), "a-sensor", TOPICS, PATIENCE);
    }

    private void append(String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private void end() throws IOException {
        Files.createFile(GrowingFile.endOf(file));
    }

    private static Message line(int id, String payload) {
        return new Message(TOPICS.lines(), id, payload);
    }

    @Test
    void eachLineIsAMessageAndTheEndIsBehindThem() throws Exception {
        append("one\ntw");
        try (LinePublisher publisher = publisher();
                Client client = broker.accept()) {
            assertThat(client.connect()).isEqualTo("a-sensor");
            client.say(0x20, 2, 0, 0);
            assertThat(client.message()).isEqualTo(line(1, "one"));
            String two = "o".repeat(200_000);
            append(two + "\n");
            assertThat(client.message()).isEqualTo(line(2, "tw" + two));
            client.acknowledge(1);
            end();
            Await.until("an acknowledgement is taken", () -> publisher.published() == 1);
            client.acknowledge(2);
            assertThat(client.message()).isEqualTo(new Message(TOPICS.end(), 3, ""));
            assertThat(publisher.isDone()).isFalse();
            client.acknowledge(3);
            client.end();
            assertThat(publisher.isDone()).isTrue();
            assertThat(publisher.published()).isEqualTo(2);
            publisher.check();
        }
    }

    /** A broker may acknowledge the second message first. */
    @Test
    void whatIsNotAcknowledgedComesAgain() throws Exception {
        append("one\ntwo\nthree\n");
        end();
        try (LinePublisher publisher = publisher()) {
            try (Client client = broker.accept().welcome()) {
                for (String line : List.of("one", "two", "three")) {
                    assertThat(client.message().payload()).isEqualTo(line);
                }
                client.acknowledge(2);
            }
            try (Client client = broker.accept().welcome()) {
                assertThat(client.message()).isEqualTo(line(1, "one"));
                assertThat(client.message()).isEqualTo(line(2, "three"));
                client.acknowledge(1);
                client.acknowledge(2);
                // The end is lost, too.
                assertThat(client.message().topic()).isEqualTo(TOPICS.end());
            }
            try (Client client = broker.accept().welcome()) {
                assertThat(client.message()).isEqualTo(new Message(TOPICS.end(), 1, ""));
                client.acknowledge(1);
                client.end();
            }
            assertThat(publisher.published()).isEqualTo(3);
            publisher.check();
        }
    }

    /** Nobody waits for the next line to find out. */
    @Test
    void aConnectionThatIsLostIsNoticedAlsoIfThereIsNothingToPublish() throws Exception {
        append("one\n");
        try (LinePublisher publisher = publisher()) {
            broker.accept().welcome().close();
            try (Client client = broker.accept().welcome()) {
                assertThat(client.message()).isEqualTo(line(1, "one"));
                client.acknowledge(1);
                Await.until("it is acknowledged", () -> publisher.published() == 1);
            }
        }
    }

    /** There are 65,535 of them; one that is under way has its own all the time. */
    @Test
    void packetIdsAreUsedAgain() throws Exception {
        int lines = 66_000;
        Files.write(file, IntStream.range(0, lines).mapToObj(Integer::toString).toList());
        end();
        try (LinePublisher publisher = publisher();
                Client client = broker.accept().welcome()) {
            assertThat(client.message()).isEqualTo(line(1, "0"));
            for (int number = 1; number < lines; number++) {
                int id = number < 0xFFFF ? number + 1 : number - 0xFFFF + 2;
                assertThat(client.message()).isEqualTo(line(id, Integer.toString(number)));
                client.acknowledge(id);
            }
            client.acknowledge(1);
            client.acknowledge(client.message().id());
            client.end();
            assertThat(publisher.published()).isEqualTo(lines);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, does not take clients of MQTT 3.1.1",
        "2, does not take the client id me",
        "3, not available now",
        "5, takes clients without users",
        "9, with code 9"
    })
    void whatABrokerRefusesIsSaid(int code, String reason) throws Exception {
        assertThat(answered(0x20, 2, 0, code)).hasMessageContaining(reason);
    }

    @Test
    void whatIsNoBrokerIsSaid() throws Exception {
        assertThat(answered('H', 'T')).hasMessageContaining("no broker of MQTT 3.1.1: packet 0x48");
        assertThat(answered()).hasMessageContaining("has closed the connection");
        BrokerAddress nowhere = new BrokerAddress("nowhere.invalid", 1);
        assertThatThrownBy(() -> LinePublisher.forget(nowhere, "me"))
                .isInstanceOf(IOException.class)
                .hasMessage("there is no host nowhere.invalid");
    }

    /** What a client makes of an answer behind which the connection is closed. */
    private Throwable answered(int... bytes) throws Exception {
        CompletableFuture<Throwable> client =
                CompletableFuture.supplyAsync(
                        () -> catchThrowable(() -> LinePublisher.forget(broker.address(), "me")));
        try (Client connection = broker.accept()) {
            connection.connect();
            connection.say(bytes);
        }
        return client.get();
    }

    /** A publisher that goes on in vain would keep a run from its end. */
    @Test
    void whatIsOfNoUseIsNotTriedAgain() throws Exception {
        append("one\n");
        try (LinePublisher refused = publisher()) {
            try (Client client = broker.accept()) {
                client.connect();
                client.say(0x20, 2, 0, 5);
                assertFails(refused, broker.address() + ": the broker wants a user");
            }
        }
        try (LinePublisher confused = publisher();
                Client client = broker.accept().welcome()) {
            client.acknowledge(client.message().id() + 1);
            assertFails(confused, "acknowledges packet 2, which is not there");
        }
        Path folder = Files.createDirectory(directory.resolve("folder"));
        Files.createFile(folder.resolve("which has bytes"));
        try (LinePublisher unreadable =
                        LinePublisher.start(
                                folder, broker.address(), "b-sensor", TOPICS, PATIENCE);
                Client client = broker.accept()) {
            client.welcome();
            assertFails(unreadable, folder.toString());
        }
    }

    @Test
    void aBrokerThatIsGoneIsNotWaitedForWithoutEnd() throws Exception {
        broker.close();
        try (LinePublisher publisher =
                LinePublisher.start(file, broker.address(), "a", TOPICS, Duration.ZERO)) {
            assertFails(
                    publisher,
                    broker.address()
                            + ": the broker has taken nothing for 0 s, and not all of sites/a is"
                            + " there (0 messages are): Connection refused. Start the broker");
            assertThat(publisher.isDone()).isFalse();
        }
    }

    private static void assertFails(LinePublisher publisher, String reason) throws Exception {
        Await.until("it fails", () -> catchThrowable(publisher::check) != null);
        assertThatThrownBy(publisher::check).hasMessageContaining(reason);
    }
}
