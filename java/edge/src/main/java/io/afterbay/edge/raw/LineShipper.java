package io.afterbay.edge.raw;

import io.afterbay.edge.lines.GrowingFile;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.zip.DeflaterOutputStream;

/**
 * Sends a file that grows, compressed, to a {@link LineReceiver}: what would feed the whole job in
 * the cloud. What has come within a second goes together, in one stream with one dictionary, which
 * is better than the batches of a producer of Kafka's with {@code linger.ms=1000} and gzip. When
 * the connection is lost it goes on from what has arrived. A thread of its own.
 */
public final class LineShipper implements AutoCloseable {
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long POLL_MS = 10;
    private static final long RETRY_MS = 200;
    private static final int BUFFER_BYTES = 16 << 10;

    private final String site;
    private final Path file;
    private final int port;
    private final Thread thread;
    private volatile Socket socket = new Socket();
    private volatile boolean closed;

    private LineShipper(String site, Path file, int port) {
        this.site = site;
        this.file = file;
        this.port = port;
        this.thread = daemon("shipper " + site, this::run);
    }

    /**
     * Begins to send.
     *
     * @param file a {@link GrowingFile}; it need not be there yet
     */
    public static LineShipper start(String site, Path file, int port) {
        LineShipper shipper = new LineShipper(site, file, port);
        shipper.thread.start();
        return shipper;
    }

    static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Whether all of the file has arrived. */
    public boolean isDone() {
        return !thread.isAlive();
    }

    private void run() {
        try {
            while (!closed && !tryToSend()) {
                Thread.sleep(RETRY_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean tryToSend() throws InterruptedException {
        try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket = connection;
            connection.setSendBufferSize(BUFFER_BYTES);
            DataInputStream answers = new DataInputStream(connection.getInputStream());
            OutputStream out = connection.getOutputStream();
            new DataOutputStream(out).writeUTF(site);
            send(answers.readLong(), out);
            return answers.readByte() == 1;
        } catch (IOException e) {
            return false;
        }
    }

    private void send(long position, OutputStream out) throws IOException, InterruptedException {
        while (!Files.exists(file)) {
            Thread.sleep(POLL_MS);
        }
        DeflaterOutputStream compressed = new DeflaterOutputStream(out, true);
        try (FileChannel channel = FileChannel.open(file)) {
            InputStream lines = Channels.newInputStream(channel.position(position));
            long flushedAt = System.nanoTime();
            boolean complete;
            do {
                complete = Files.exists(GrowingFile.endOf(file));
                lines.transferTo(compressed);
                if (System.nanoTime() - flushedAt >= LINGER_NANOS) {
                    compressed.flush();
                    flushedAt = System.nanoTime();
                }
                Thread.sleep(POLL_MS);
            } while (!complete);
        }
        compressed.finish();
    }

    @Override
    public void close() throws IOException {
        closed = true;
        thread.interrupt();
        socket.close();
    }
}
