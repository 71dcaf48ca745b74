package io.afterbay.edge.link;

import java.io.IOException;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A connection through a link: for each direction a thread at each end of it. */
final class RelayedConnection {
    /** Of sockets; the system makes some more of it. */
    static final int BUFFER_BYTES = 16 << 10;

    private static final int CHUNK_BYTES = 2 << 10;

    /** What is on the way: more than a fast link holds in a long round trip. */
    private static final int CHUNKS_MAX = 1 << 12;

    private static final Chunk END = new Chunk(new byte[0], 0);

    private final Socket site;
    private final Socket cloud;
    private final LinkGate gate;
    private final AtomicInteger openEnds = new AtomicInteger(2);

    /**
     * @param dueNanos when it is at the other end
     */
    private record Chunk(byte[] bytes, long dueNanos) {}

    /** What a thread does until its connection is gone. */
    @FunctionalInterface
    interface Work {
        void run() throws IOException, InterruptedException;
    }

    RelayedConnection(Socket site, Socket cloud, LinkGate gate) {
        this.site = site;
        this.cloud = cloud;
        this.gate = gate;
    }

    void start(Lane up, Lane down, Runnable atEnd) throws IOException {
        site.setTcpNoDelay(true);
        cloud.setTcpNoDelay(true);
        start(site, cloud, up, atEnd);
        start(cloud, site, down, atEnd);
    }

    private void start(Socket from, Socket to, Lane lane, Runnable atEnd) {
        BlockingQueue<Chunk> way = new ArrayBlockingQueue<>(CHUNKS_MAX);
        thread(() -> read(from, lane, way), atEnd);
        thread(() -> write(way, to, atEnd), atEnd);
    }

    private void thread(Work work, Runnable atEnd) {
        daemon(
                        "link",
                        () -> {
                            try {
                                work.run();
                            } catch (IOException e) {
                                // One side is gone; then the other one goes.
                                close();
                                atEnd.run();
                            } catch (InterruptedException e) {
                                close();
                            }
                        })
                .start();
    }

    static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    private void read(Socket from, Lane lane, BlockingQueue<Chunk> way)
            throws IOException, InterruptedException {
        byte[] buffer = new byte[CHUNK_BYTES];
        try {
            while (true) {
                gate.await();
                int count = from.getInputStream().read(buffer);
                if (count < 0) {
                    return;
                }
                gate.await();
                put(way, new Chunk(Arrays.copyOf(buffer, count), lane.put(count)));
            }
        } finally {
            put(way, END);
        }
    }

    /** Who takes chunks ends with the connection. */
    private void put(BlockingQueue<Chunk> way, Chunk chunk) throws InterruptedException {
        while (!way.offer(chunk, 1, TimeUnit.SECONDS) && !cloud.isClosed()) {
            continue;
        }
    }

    private void write(BlockingQueue<Chunk> way, Socket to, Runnable atEnd)
            throws IOException, InterruptedException {
        for (Chunk chunk = way.take(); chunk != END; chunk = way.take()) {
            Lane.sleepUntil(chunk.dueNanos);
            gate.await();
            to.getOutputStream().write(chunk.bytes);
        }
        to.shutdownOutput();
        if (openEnds.decrementAndGet() == 0) {
            close();
            atEnd.run();
        }
    }

    void close() {
        for (Socket socket : new Socket[] {site, cloud}) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is gone.
            }
        }
    }
}
