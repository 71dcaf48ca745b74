package io.afterbay.cli.replay;

import io.afterbay.cli.Afterbay;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/**
 * What a user sees of {@code afterbay replay}, in this process: of what starts no worker.
 *
 * @param code with which it ends
 * @param out standard output
 * @param err standard error
 */
public record ReplayVerb(int code, String out, String err) {
    /**
     * @param root where replays are kept
     */
    public static ReplayVerb run(Path root, String... words) {
        List<String> all = new ArrayList<>(List.of("replay"));
        all.addAll(List.of(words));
        all.addAll(List.of("--dir", root.toString()));
        StringWriter err = new StringWriter();
        CommandLine command = Afterbay.commandLine();
        command.setErr(new PrintWriter(err, true));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            int code = command.execute(all.toArray(String[]::new));
            return new ReplayVerb(code, out.toString(StandardCharsets.UTF_8), err.toString());
        } finally {
            System.setOut(before);
        }
    }
}
