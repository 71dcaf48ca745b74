package io.afterbay.spark;

import java.nio.file.Path;

/** Threads that write to a test's directory, also those that were given up. */
final class PublisherThreads {
    private PublisherThreads() {}

    /** Before the directory is removed: a write that was held may still go on. */
    static void awaitEnd(Path directory) throws InterruptedException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("afterbay-publisher-")
                    && thread.getName().contains(directory.toString())) {
                thread.join();
            }
        }
    }
}
