package io.afterbay.edge.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A job in two halves:
 *
 * <pre>
 *   site a ── lower half ──┐
 *   site b ── lower half ──┴─ partition 0 ──┐
 *                                           ├── upper half ── rows
 *   site c ── lower half ──── partition 1 ──┘
 * </pre>
 */
public final class Halves {
    private final EdgeProgram program;
    private final PlanCut cut;
    private final Path directory;
    private final PartialsMerge.Order order;
    private long rows;

    /**
     * @param directory for what goes between the halves
     * @param order in which what sites send comes together in a partition
     */
    public Halves(EdgeProgram program, PlanCut cut, Path directory, PartialsMerge.Order order) {
        this.program = program;
        this.cut = cut;
        this.directory = directory;
        this.order = order;
    }

    /**
     * Runs the lower half at each site.
     *
     * @param inputs what each site sees, by name
     * @return what each sends, by name
     */
    public Map<String, Path> runSites(Map<String, Path> inputs)
            throws CommandFailure, IOException, InterruptedException {
        Map<String, Path> sent = new LinkedHashMap<>();
        for (Map.Entry<String, Path> input : inputs.entrySet()) {
            Path output = Files.createTempFile(directory, "site-", ".ndjson");
            program.exec(cut, input.getKey(), input.getValue(), output);
            sent.put(input.getKey(), output);
        }
        return sent;
    }

    /**
     * The upper half, ready to run.
     *
     * @param partitions what the sites of each have sent, by name
     * @param output a directory for the rows
     */
    public PlanJson upper(List<Map<String, Path>> partitions, Path output) throws IOException {
        PartialsMerge merge = new PartialsMerge(table(), order);
        List<Map<String, String>> places = new ArrayList<>();
        for (Map<String, Path> partition : partitions) {
            Path file = Files.createTempFile(directory, "partition-", ".json");
            merge.write(partition, file);
            places.add(Tables.json(file));
        }
        rows = merge.rows();
        return cut.upper().withPartitions(cut.table(), places).withSinks(Tables.json(output));
    }

    /** Rows that went from the sites into the upper half. */
    public long rows() {
        return rows;
    }

    private PlanTable table() {
        return cut.upper().sources().stream()
                .filter(table -> table.name().equals(cut.table()))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "the upper half reads no " + cut.table()));
    }
}
