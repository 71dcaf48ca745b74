package io.afterbay.cli.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Notices that a user's code calls {@link System#exit} in the worker, which itself ends by {@link
 * Runtime#halt}. The JVM's hooks run then and may take their time: the run is reported before its
 * process ends. The status that was asked for is known to the JVM only, so a file tells the first
 * process that the worker's exit code is not ours.
 */
public final class SystemExit {
    private static final CountDownLatch REPORTED = new CountDownLatch(1);

    private static volatile boolean called;

    private SystemExit() {}

    /** Calls the listener when somebody ends the JVM, and holds that up until {@link #allow}. */
    public static void watch(Runnable listener) {
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () -> {
                                    called = true;
                                    listener.run();
                                    awaitReport();
                                },
                                "exit"));
    }

    private static void awaitReport() {
        try {
            REPORTED.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether the JVM is ending because somebody called for it. */
    public static boolean isCalled() {
        return called;
    }

    /** Lets the JVM end with the status that was asked for. */
    public static void allow() throws IOException, InterruptedException {
        Files.createFile(marker(WorkDirectory.ofWorker().orElseThrow()));
        REPORTED.countDown();
        Thread.currentThread().join(); // until the JVM is gone
    }

    /** Whether the worker of this directory ended with the status of the user's code. */
    public static boolean decided(Path workDirectory) {
        return Files.exists(marker(workDirectory));
    }

    private static Path marker(Path workDirectory) {
        return workDirectory.resolve("exit-of-program");
    }
}
