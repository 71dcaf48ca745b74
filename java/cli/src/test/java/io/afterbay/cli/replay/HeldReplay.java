package io.afterbay.cli.replay;

import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A process that holds a replay: two that do not know of each other are two processes, since one is
 * never refused what it has locked itself.
 */
final class HeldReplay implements AutoCloseable {
    private static final int HELD = '+';
    private final Process process;

    private HeldReplay(Process process) {
        this.process = process;
    }

    /** Returns when it does. */
    static HeldReplay hold(Path directory, ReplayLock.Holder as) throws IOException {
        List<String> command = OwnJvm.command(HeldReplay.class.getName());
        command.addAll(List.of(directory.toString(), as.name()));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        HeldReplay held = new HeldReplay(process);
        if (process.getInputStream().read() != HELD) {
            held.close();
            throw new IOException("the replay in " + directory + " could not be held");
        }
        return held;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }

    /** Ends with its input. */
    public static void main(String[] args) throws Exception {
        if (new ReplayLock(Path.of(args[0])).hold(ReplayLock.Holder.valueOf(args[1]))) {
            System.out.write(HELD);
            System.out.flush();
            while (System.in.read() >= 0) {
                // Its parent lives.
            }
        }
    }
}
