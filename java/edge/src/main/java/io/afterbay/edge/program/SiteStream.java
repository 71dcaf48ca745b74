package io.afterbay.edge.program;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.afterbay.edge.program.SiteItem.SiteRow;
import io.afterbay.edge.program.SiteItem.SiteWatermark;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a site has sent, from a file of lines {@code {"row":[…]}} and {@code {"watermark":MS}}. For
 * one thread.
 */
public final class SiteStream implements AutoCloseable {
    /** Doubles as such: the sign of zero is lost in decimals, which come as texts. */
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path file;
    private final BufferedReader lines;
    private long line;

    private SiteStream(Path file, BufferedReader lines) {
        this.file = file;
        this.lines = lines;
    }

    public static SiteStream open(Path file) throws IOException {
        return new SiteStream(file, Files.newBufferedReader(file));
    }

    /** The next item, or null at the end. */
    public @Nullable SiteItem next() throws IOException {
        String text = lines.readLine();
        if (text == null) {
            return null;
        }
        line++;
        JsonNode item = JSON.readTree(text);
        if (item.path("row") instanceof ArrayNode values) {
            return new SiteRow(values);
        }
        if (item.path("watermark").canConvertToLong()) {
            return new SiteWatermark(item.path("watermark").asLong());
        }
        throw new IOException("%s, line %d: neither a row nor a watermark".formatted(file, line));
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
