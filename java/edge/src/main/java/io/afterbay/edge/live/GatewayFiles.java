package io.afterbay.edge.live;

import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LinesTableFactory;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.program.PlanCut;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Files on this machine, which Flink reads while they grow. */
final class GatewayFiles implements GatewayOutput {
    private final PlanCut cut;
    private final int sites;
    private final Path folder;

    /**
     * @param sites how many there are
     * @param folder of the files, for the gateway to make
     */
    GatewayFiles(PlanCut cut, int sites, Path folder) {
        this.cut = cut;
        this.sites = sites;
        this.folder = folder;
    }

    @Override
    public List<String> arguments() {
        return List.of(
                "--output",
                folder.toString(),
                "--partitions",
                cut.sitesMakeWatermarks() ? "1" : "each");
    }

    @Override
    public PlanJson upper() {
        List<Map<String, String>> places = new ArrayList<>();
        for (Path file : files()) {
            places.add(
                    LinesTableFactory.json(
                            new GrowingFile(file, Path.of(withoutEnding(file) + ".committed"))));
        }
        return cut.upper().withPartitions(cut.table(), places);
    }

    private static String withoutEnding(Path file) {
        String path = file.toString();
        return path.substring(0, path.lastIndexOf('.'));
    }

    @Override
    public boolean isReadAtEnd() {
        return false;
    }

    /** All that is in the files counts. */
    @Override
    public void end() throws IOException {
        for (Path file : files()) {
            Files.createDirectories(file.getParent());
            Files.createFile(GrowingFile.endOf(file));
        }
    }

    @Override
    public List<Path> files() {
        List<Path> files = new ArrayList<>();
        for (int partition = 0; partition < (cut.sitesMakeWatermarks() ? 1 : sites); partition++) {
            files.add(folder.resolve(cut.table()).resolve("%05d.ndjson".formatted(partition)));
        }
        return files;
    }
}
