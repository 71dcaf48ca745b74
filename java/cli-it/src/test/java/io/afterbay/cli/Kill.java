package io.afterbay.cli;

import io.afterbay.testing.Await;
import java.util.ArrayList;
import java.util.List;

/** kill -9 of what a test has started: when it returns, they hold no file and no lock any more. */
final class Kill {
    private Kill() {}

    /** A program, and first those that it has started. */
    static void tree(Process program) throws Exception {
        List<ProcessHandle> all = new ArrayList<>(program.descendants().toList());
        all.add(program.toHandle());
        all(all);
    }

    static void all(Iterable<ProcessHandle> programs) throws Exception {
        for (ProcessHandle program : programs) {
            program.destroyForcibly();
        }
        for (ProcessHandle program : programs) {
            Await.until(() -> "the end of " + program.info(), () -> !program.isAlive());
        }
    }
}
