package io.afterbay.cli.job;

import io.afterbay.cli.sql.ScriptRun;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Parameters;

/** Which script is run. */
public final class SqlArguments {
    @Parameters(index = "0", paramLabel = "FILE.sql", description = "The script, in UTF-8.")
    public Path file = Path.of("");

    public void check() throws CommandFailure {
        if (!Files.isRegularFile(file)) {
            throw new CommandFailure(
                    file + (Files.exists(file) ? ": is no file" : ": no such file"));
        }
        try {
            var unused = ScriptRun.text(file);
        } catch (IOException e) {
            throw new CommandFailure(file + ": " + CommandFailure.reason(e), e);
        }
    }
}
