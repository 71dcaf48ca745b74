package io.afterbay.edge.mqtt;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LineTail;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a file that grows, each line as a message with QoS 1, and a message on another topic
 * when everything is acknowledged and nothing more comes. What is not acknowledged when the
 * connection is lost is published again on the next one: the broker may have it twice then.
 *
 * <p>A thread of its own; for any number of threads.
 */
public final class LinePublisher implements AutoCloseable {
    /** Messages that the broker may have without having acknowledged them. */
    private static final int WINDOW = 500;

    private static final int POLL_MS = 10;
    private static final long RETRY_MS = 200;
    private static final long NONE = -1;

    private final Topics topics;
    private final Path file;
    private final BrokerAddress broker;
    private final String clientId;
    private final long leftOut;
    private final Duration patience;
    private final Thread thread;
    private volatile long published;
    private volatile boolean done;
    private volatile boolean closed;
    private volatile @Nullable IOException failure;

    /** What was published on a connection that is lost, in front of all that was not. */
    private Deque<byte[]> again = new ArrayDeque<>();

    private long lines;
    private @Nullable Long lostSinceNs;

    /**
     * Where lines go, and where it is said that there are no more.
     *
     * @param end another one than {@code lines}
     */
    public record Topics(String lines, String end) {
        private static byte[] bytes(String topic) {
            return topic.getBytes(StandardCharsets.UTF_8);
        }
    }

    private LinePublisher(
            Path file,
            BrokerAddress broker,
            String clientId,
            Topics topics,
            long leftOut,
            Duration patience) {
        this.file = file;
        this.broker = broker;
        this.clientId = clientId;
        this.topics = topics;
        this.leftOut = leftOut;
        this.patience = patience;
        this.thread = new Thread(this::run, "publisher " + topics.lines());
        this.thread.setDaemon(true);
        this.thread.start();
    }

    /**
     * Begins to publish.
     *
     * @param file a {@link GrowingFile}; it need not be there yet
     * @param clientId of nobody else at this broker
     * @param patience a broker that has acknowledged nothing for so long, on any connection, is
     *     gone
     */
    public static LinePublisher start(
            Path file, BrokerAddress broker, String clientId, Topics topics, Duration patience) {
        return startWithout(NONE, file, broker, clientId, topics, patience);
    }

    /**
     * For a control: as {@link #start}, without one of the lines, which nobody hears of.
     *
     * @param line its number, from 0
     */
    public static LinePublisher startWithout(
            long line,
            Path file,
            BrokerAddress broker,
            String clientId,
            Topics topics,
            Duration patience) {
        return new LinePublisher(file, broker, clientId, topics, line, patience);
    }

    /** Lines that the broker has acknowledged. */
    public long published() {
        return published;
    }

    /** Whether the broker has acknowledged everything, and that nothing more comes. */
    public boolean isDone() {
        return done;
    }

    /**
     * @throws IOException why the broker will never have everything
     */
    public void check() throws IOException {
        IOException reason = failure;
        if (reason != null) {
            throw reason;
        }
    }

    private void run() {
        try (LineTail tail = new LineTail(new GrowingFile(file, null))) {
            while (!closed && !tryToPublish(tail)) {
                Thread.sleep(RETRY_MS);
            }
        } catch (UncheckedIOException e) {
            failure = e.getCause();
        } catch (IOException e) {
            failure = new IOException(broker + ": " + CommandFailure.reason(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** False if the connection was lost. */
    private boolean tryToPublish(LineTail tail) throws IOException, InterruptedException {
        try (MqttConnection connection = MqttConnection.open(broker, clientId)) {
            publishLines(connection, tail);
            if (!closed) {
                connection.publish(Topics.bytes(topics.end()), new byte[0]);
                connection.flush();
                connection.takeAcknowledgement();
                done = true;
                connection.disconnect();
            }
            return true;
        } catch (MqttConnection.Refused e) {
            throw e;
        } catch (IOException e) {
            if (done) {
                return true;
            }
            giveUpInTime(e);
            return false;
        }
    }

    private void giveUpInTime(IOException reason) throws IOException {
        long now = System.nanoTime();
        Long since = lostSinceNs;
        if (since == null) {
            lostSinceNs = now;
        } else if (now - since > patience.toNanos()) {
            throw new IOException(
                    ("the broker has taken nothing for %d s, and not all of %s is there (%,d"
                                    + " messages are): %s. Start the broker, and run again")
                            .formatted(
                                    patience.toSeconds(),
                                    topics.lines(),
                                    published,
                                    CommandFailure.reason(reason)),
                    reason);
        }
    }

    private void publishLines(MqttConnection connection, LineTail tail)
            throws IOException, InterruptedException {
        byte[] topic = Topics.bytes(topics.lines());
        try {
            while (!closed && !(isAllPublished(tail) && connection.underWay() == 0)) {
                publishSome(connection, topic, tail);
                takeSome(connection, isAllPublished(tail));
            }
        } finally {
            Deque<byte[]> older = new ArrayDeque<>(connection.unacknowledged());
            older.addAll(again);
            again = older;
        }
    }

    private boolean isAllPublished(LineTail tail) {
        return again.isEmpty() && tail.isEnded();
    }

    private void publishSome(MqttConnection connection, byte[] topic, LineTail tail)
            throws IOException {
        while (connection.underWay() < WINDOW) {
            byte[] line = again.isEmpty() ? next(tail) : again.remove();
            if (line == null) {
                break;
            }
            connection.publish(topic, line);
        }
        connection.flush();
    }

    /** What is wrong with the file is not to be taken for a connection that is lost. */
    private byte @Nullable [] next(LineTail tail) {
        try {
            byte[] line = tail.next();
            return line != null && lines++ == leftOut ? tail.next() : line;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    new IOException(file + ": " + CommandFailure.reason(e), e));
        }
    }

    /** Waits for an acknowledgement if nothing else is to be done. */
    private void takeSome(MqttConnection connection, boolean isAll)
            throws IOException, InterruptedException {
        if (connection.underWay() == 0) {
            lostSinceNs = null;
            if (!isAll) {
                Thread.sleep(POLL_MS);
            }
            return;
        }
        boolean waits = isAll || connection.underWay() == WINDOW;
        if (!waits && !connection.awaitAnswer(POLL_MS)) {
            return;
        }
        do {
            connection.takeAcknowledgement();
            lostSinceNs = null;
            published++;
        } while (connection.underWay() > 0 && connection.hasAnswer());
    }

    /** Has a broker forget the session of a client that does not come again. */
    public static void forget(BrokerAddress broker, String clientId) throws IOException {
        try (MqttConnection connection = MqttConnection.open(broker, clientId)) {
            connection.disconnect();
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
