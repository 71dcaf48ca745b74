package io.afterbay.edge;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.plan.ScriptPlan;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import picocli.CommandLine.Parameters;

/** Which script is cut. */
final class ScriptArguments {
    @Parameters(
            index = "0",
            paramLabel = "SCRIPT.sql",
            description =
                    "CREATE TABLE and CREATE VIEW statements, and one INSERT or SELECT; in UTF-8.")
    Path script = Path.of("");

    /** What Flink makes of it. */
    ScriptPlan plan() throws CommandFailure {
        try {
            return PlanMaker.plan(script.toString(), Files.readString(script));
        } catch (ScriptException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        } catch (NoSuchFileException e) {
            throw new CommandFailure(script + ": no such file", e);
        } catch (MalformedInputException e) {
            throw new CommandFailure(script + ": is no text in UTF-8", e);
        } catch (IOException e) {
            throw new CommandFailure(script + ": " + CommandFailure.reason(e), e);
        }
    }
}
