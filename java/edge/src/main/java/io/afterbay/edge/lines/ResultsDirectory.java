package io.afterbay.edge.lines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Results of a job, and how far they were when.
 *
 * <pre>
 *   rows.ndjson    an object a line
 *   .watermarks    WATERMARK TIME, both in ms: until then, all results up to there were written
 * </pre>
 */
public record ResultsDirectory(Path directory) {
    /** All results up to a watermark were there at a time; both in ms. */
    public record Complete(long watermarkMs, long timeMs) {}

    public Path rows() {
        return directory.resolve("rows.ndjson");
    }

    Path watermarks() {
        return directory.resolve(".watermarks");
    }

    /** Whether the job is there that writes them. */
    public boolean hasBegun() {
        return Files.exists(watermarks());
    }

    /** In the order in which they came; what is being written is not among them. */
    public List<Complete> read() throws IOException {
        List<Complete> all = new ArrayList<>();
        if (!Files.exists(watermarks())) {
            return all;
        }
        String text = Files.readString(watermarks());
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
            int space = line.indexOf(' ');
            all.add(
                    new Complete(
                            Long.parseLong(line.substring(0, space)),
                            Long.parseLong(line.substring(space + 1))));
        }
        return all;
    }
}
