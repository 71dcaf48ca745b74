package io.afterbay.storm.workloads;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.zip.Deflater;

/** A program beside the tasks of a worker, which compresses one block after the other. */
final class Compressor implements AutoCloseable {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int BLOCK_BYTES = 1 << 16;

    /** Few different bytes, so that there is something to compress. */
    private static final int LETTERS = 20;

    private final CpuGroup group;
    private final Thread thread;
    private volatile boolean isClosed;

    /**
     * @param group of the worker
     */
    Compressor(CpuGroup group) {
        this.group = group;
        this.thread = new Thread(this::run, "compressor");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            group.enter();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        byte[] block = block();
        byte[] compressed = new byte[BLOCK_BYTES];
        while (!isClosed) {
            compress(block, compressed);
        }
    }

    private static byte[] block() {
        Random random = new Random(1);
        byte[] block = new byte[BLOCK_BYTES];
        for (int i = 0; i < block.length; i++) {
            block[i] = (byte) random.nextInt(LETTERS);
        }
        return block;
    }

    private static void compress(byte[] block, byte[] compressed) {
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(block);
            deflater.finish();
            while (!deflater.finished()) {
                deflater.deflate(compressed);
            }
        } finally {
            deflater.end();
        }
    }

    /** Its processor time until now. */
    long cpuNanos() {
        return Math.max(0, THREADS.getThreadCpuTime(thread.getId()));
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
