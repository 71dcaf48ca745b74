package io.afterbay.cli.replay;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where replays are kept. */
final class ReplayPlace {
    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description =
                    "Where replays are kept, each with its plan and its checkpoints (default:"
                            + " $XDG_STATE_HOME/afterbay/replays, or ~/.local/state/afterbay/replays).")
    private @Nullable Path directory;

    Path root() {
        return (directory == null ? ofUser() : directory).toAbsolutePath().normalize();
    }

    KeptReplays replays() {
        return new KeptReplays(root());
    }

    /**
     * What names the place again in a command, with a space before it; nothing for the usual one.
     */
    static String option(Path root) {
        return root.equals(ofUser()) ? "" : " --dir " + root;
    }

    private static Path ofUser() {
        String state = System.getenv("XDG_STATE_HOME");
        Path base =
                state == null || state.isEmpty()
                        ? Path.of(System.getProperty("user.home"), ".local", "state")
                        : Path.of(state);
        return base.resolve("afterbay").resolve("replays").toAbsolutePath().normalize();
    }
}
