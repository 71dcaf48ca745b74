package io.afterbay.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Lets users write {@code run FILE.jar} for {@code run jar FILE.jar}, and so for {@code .sql}. */
final class Targets {
    private Targets() {}

    /** The arguments with the name of the command that the first file's ending stands for. */
    static String[] named(String[] args) {
        String command = args.length < 2 ? null : commandOf(args[1]);
        if (command == null) {
            return args;
        }
        List<String> named = new ArrayList<>(List.of(args));
        named.add(1, command);
        return named.toArray(String[]::new);
    }

    private static @Nullable String commandOf(String target) {
        String lower = target.toLowerCase(Locale.ROOT);
        if (lower.endsWith(".jar")) {
            return "jar";
        }
        return lower.endsWith(".sql") ? "sql" : null;
    }
}
