package io.afterbay.edge.program;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.command.Installation;
import io.afterbay.edge.plan.PlanJson;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

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
     * Reads an app file.
     *
     * @param directory for what it says, as a file
     * @return its services, connections and locations as JSON
     * @throws WrongAppFile if it is not right
     */
    public JsonNode app(Path file, Path directory)
            throws WrongAppFile, CommandFailure, IOException, InterruptedException {
        Path said = directory.resolve("app.json");
        List<String> arguments = List.of("app", file.toString(), "--json");
        Ended ended = end(said, arguments);
        if (ended.code == ExitCode.USAGE) {
            throw new WrongAppFile(ended.said);
        }
        if (ended.code != 0) {
            throw new CommandFailure(ended.message("app"));
        }
        return JSON.readTree(said.toFile());
    }

    /** What is wrong with an app file, with lines, and with what is allowed. */
    public static final class WrongAppFile extends Exception {
        private static final long serialVersionUID = 1;

        WrongAppFile(String message) {
            super(message);
        }
    }

    /**
     * Cuts a plan.
     *
     * @param directory for the plan and its halves, as files
     */
    public PlanCut cut(PlanJson plan, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        return cut(plan, List.of(), directory);
    }

    /**
     * Cuts a plan.
     *
     * @param local columns of which no value is at two sites, each COLUMN or TABLE.COLUMN
     * @param directory for the plan and its halves, as files
     */
    public PlanCut cut(PlanJson plan, List<String> local, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        return cut(plan, local, Map.of(), directory);
    }

    /**
     * Cuts a plan.
     *
     * @param local columns of which no value is at two sites, each COLUMN or TABLE.COLUMN
     * @param table options of the table between the halves; none if the upper half gets them later
     * @param directory for the plan and its halves, as files
     */
    public PlanCut cut(PlanJson plan, List<String> local, Map<String, String> table, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        Path whole = Files.writeString(directory.resolve("plan.json"), plan.toString());
        Path lower = directory.resolve("lower.json");
        Path upper = directory.resolve("upper.json");
        Path report = directory.resolve("cut.json");
        List<String> arguments =
                new ArrayList<>(List.of("cut", "--plan", whole.toString(), "--json"));
        arguments.addAll(List.of("--lower", lower.toString(), "--upper", upper.toString()));
        arguments.addAll(PlanCut.localArguments(local));
        table.forEach(
                (option, value) ->
                        arguments.addAll(List.of("--table-option", option + "=" + value)));
        run(report, arguments);
        JsonNode told = JSON.readTree(report.toFile());
        return new PlanCut(told, lower, PlanJson.parse(Files.readString(upper)), local);
    }

    /**
     * Says of each node of a plan where it runs, and why.
     *
     * @param local columns of which no value is at two sites, each COLUMN or TABLE.COLUMN
     * @param json instead of text for people
     */
    public String report(Path plan, List<String> local, boolean json)
            throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("cut", "--plan", plan.toString()));
        arguments.addAll(PlanCut.localArguments(local));
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
     * @param cut of the plan
     * @param input lines of JSON, or a file that ends in .csv
     * @param output for what the site sends; {@link SiteStream} reads it
     */
    public void exec(PlanCut cut, String site, Path input, Path output)
            throws CommandFailure, IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("exec", "--plan", cut.lower().toString()));
        arguments.addAll(List.of("--site", site, "--input", input.toString()));
        arguments.addAll(cut.localArguments());
        run(output, arguments);
    }

    /** A command line of the program, for processes of others. */
    public List<String> command(String... arguments) {
        return command(List.of(arguments));
    }

    /** A command line of the program, for processes of others. */
    public List<String> command(List<String> arguments) {
        return Stream.concat(Stream.of(program.toString()), arguments.stream()).toList();
    }

    /**
     * Runs the program to its end.
     *
     * @param output for what it says
     * @throws CommandFailure with its own words, if it fails
     */
    public void run(Path output, List<String> arguments)
            throws CommandFailure, IOException, InterruptedException {
        Ended ended = end(output, arguments);
        if (ended.code != 0) {
            throw new CommandFailure(ended.message(arguments.get(0)));
        }
    }

    /** How a process has ended, and what it has said of its errors. */
    private record Ended(int code, String said) {
        String message(String verb) {
            return said.isEmpty()
                    ? "afterbay-edge %s ended with code %d and said nothing".formatted(verb, code)
                    : said;
        }
    }

    private Ended end(Path output, List<String> arguments)
            throws IOException, InterruptedException {
        Path errors = Files.createTempFile(output.toAbsolutePath().getParent(), "errors", ".txt");
        Process process =
                new ProcessBuilder(command(arguments))
                        .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                        .redirectOutput(output.toFile())
                        .redirectError(errors.toFile())
                        .start();
        try {
            int code = process.waitFor();
            return new Ended(code, Files.readString(errors).strip());
        } finally {
            process.destroyForcibly();
            Files.deleteIfExists(errors);
        }
    }
}
