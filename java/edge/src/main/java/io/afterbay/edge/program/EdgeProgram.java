package io.afterbay.edge.program;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import io.afterbay.edge.plan.PlanJson;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The program {@code afterbay-edge} of the folder rust. Each call is a process of its own; its
 * messages become those of {@link CommandFailure}s.
 */
public final class EdgeProgram {
    /** Where the launcher says that the program is. */
    public static final String PROPERTY = "afterbay.edge.program";

    private static final Path USUAL = Path.of("rust/target/release/afterbay-edge");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path program;

    public EdgeProgram(Path program) {
        this.program = program;
    }

    /** The one that the launcher has built. */
    public static EdgeProgram installed() throws CommandFailure {
        String told = System.getProperty(PROPERTY);
        Path program = told != null ? Path.of(told) : Installation.home().resolve(USUAL);
        if (!Files.isExecutable(program)) {
            throw new CommandFailure(
                    program
                            + ": the program of the sites is not there; './afterbay edge' builds it,"
                            + " and so does 'cargo build --release -p afterbay-edge' in rust/");
        }
        return new EdgeProgram(program);
    }

    /**
     * Cuts a plan.
     *
     * @param directory for the plan and its halves, as files
     */
    public PlanCut cut(PlanJson plan, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        Path whole = Files.writeString(directory.resolve("plan.json"), plan.toString());
        Path lower = directory.resolve("lower.json");
        Path upper = directory.resolve("upper.json");
        Path report = directory.resolve("cut.json");
        run(
                report,
                List.of(
                        "cut",
                        "--plan",
                        whole.toString(),
                        "--json",
                        "--lower",
                        lower.toString(),
                        "--upper",
                        upper.toString()));
        JsonNode told = JSON.readTree(report.toFile());
        return new PlanCut(told, lower, PlanJson.parse(Files.readString(upper)));
    }

    /**
     * Says of each node of a plan where it runs, and why.
     *
     * @param json instead of text for people
     */
    public String report(Path plan, boolean json)
            throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("cut", "--plan", plan.toString()));
        if (json) {
            arguments.add("--json");
        }
        Path report = plan.resolveSibling("report.txt");
        run(report, arguments);
        return Files.readString(report);
    }

    /**
     * Runs the lower half at a site, to the end of its input.
     *
     * @param lower the half, as {@link #cut} has written it
     * @param input lines of JSON, or a file that ends in .csv
     * @param output for what the site sends; {@link SiteStream} reads it
     */
    public void exec(Path lower, String site, Path input, Path output)
            throws CommandFailure, IOException, InterruptedException {
        run(
                output,
                List.of(
                        "exec",
                        "--plan",
                        lower.toString(),
                        "--site",
                        site,
                        "--input",
                        input.toString()));
    }

    private void run(Path output, List<String> arguments)
            throws CommandFailure, IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(arguments);
        Path errors = Files.createTempFile(output.toAbsolutePath().getParent(), "errors", ".txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                        .redirectOutput(output.toFile())
                        .redirectError(errors.toFile())
                        .start();
        try {
            int code = process.waitFor();
            if (code != 0) {
                throw new CommandFailure(message(code, arguments.get(0), errors));
            }
        } finally {
            process.destroyForcibly();
            Files.deleteIfExists(errors);
        }
    }

    private static String message(int code, String verb, Path errors) throws IOException {
        String said = Files.readString(errors).strip();
        return said.isEmpty()
                ? "afterbay-edge %s ended with code %d and said nothing".formatted(verb, code)
                : said;
    }
}
