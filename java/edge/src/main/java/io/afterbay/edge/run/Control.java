package io.afterbay.edge.run;

import io.afterbay.edge.program.SiteItem;
import io.afterbay.edge.program.SiteItem.SiteRow;
import io.afterbay.edge.program.SiteStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What must show in a comparison of rows, or it compares nothing. */
public enum Control {
    /** The job as it is. */
    NONE,

    /** As if rows said how far their site is: the end of their slice. Loses rows. */
    GUESSED_WATERMARKS;

    /** Does it to the file of what a site has sent. */
    public void change(Path sent) throws IOException {
        if (this == GUESSED_WATERMARKS) {
            guessWatermarks(sent);
        }
    }

    private static void guessWatermarks(Path sent) throws IOException {
        List<String> lines = new ArrayList<>();
        try (SiteStream stream = SiteStream.open(sent)) {
            for (SiteItem item = stream.next(); item != null; item = stream.next()) {
                if (item instanceof SiteRow row) {
                    long sliceEnd = row.values().path(row.values().size() - 1).asLong();
                    lines.add("{\"row\":%s}".formatted(row.values()));
                    lines.add("{\"watermark\":%d}".formatted(sliceEnd));
                }
            }
        }
        Files.write(sent, lines);
    }
}
