package io.afterbay.handover;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/** What a process does when the one that started it is gone: it ends, and leaves nothing behind. */
public final class Abandonment {
    /** As if it was killed itself. */
    private static final int EXIT_CODE = 137;

    /**
     * Of the process $0 and the directory $1. A killed process may still be in a system call for
     * seconds, and makes files until it is gone; a minute is for one that nobody buries.
     */
    private static final String KILL_AND_REMOVE =
            "kill -9 \"$0\"; i=0; while kill -0 \"$0\" 2>/dev/null && [ $i -lt 300 ];"
                    + " do rm -rf -- \"$1\"; sleep 0.2; i=$((i+1)); done; rm -rf -- \"$1\"";

    private Abandonment() {}

    /** Calls that when the process that has started this one is gone. */
    public static void withParent(Runnable then) {
        ProcessHandle.current().parent().ifPresent(parent -> parent.onExit().thenRun(then));
    }

    private interface LastWork {
        void run() throws IOException;
    }

    /** Ends this process when its standard input ends, which is a pipe from the other one. */
    public static void withInput() {
        whenInputEnds(() -> {});
    }

    /** The same, and removes that directory with all that is in it. */
    public static void withInput(Path directory) {
        whenInputEnds(() -> killAndRemove(directory));
    }

    private static void whenInputEnds(LastWork last) {
        Thread watch =
                new Thread(
                        () -> {
                            try {
                                System.in.transferTo(OutputStream.nullOutputStream());
                                last.run();
                            } catch (IOException e) {
                                // A directory stays, which lies where temporary files do.
                            }
                            Runtime.getRuntime().halt(EXIT_CODE);
                        },
                        "parent watch");
        watch.setDaemon(true);
        watch.start();
    }

    /**
     * Leaves the end of this process and the removal of the directory to a shell: until this
     * process has ended, it makes new files, and a JVM takes its time to halt.
     */
    public static Process killAndRemove(Path directory) throws IOException {
        String pid = Long.toString(ProcessHandle.current().pid());
        return new ProcessBuilder("sh", "-c", KILL_AND_REMOVE, pid, directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
