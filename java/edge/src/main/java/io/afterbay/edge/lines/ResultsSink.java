package io.afterbay.edge.lines;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.table.data.RowData;

/** Writes a {@link ResultsDirectory}, with one task. */
final class ResultsSink implements Sink<RowData> {
    private static final long serialVersionUID = 1;

    private final String path;
    private final SerializationSchema<RowData> encoder;

    ResultsSink(String path, SerializationSchema<RowData> encoder) {
        this.path = path;
        this.encoder = encoder;
    }

    @Override
    public SinkWriter<RowData> createWriter(WriterInitContext context) throws IOException {
        try {
            encoder.open(context.asSerializationSchemaInitializationContext());
        } catch (Exception e) {
            throw new IOException(path + ": its format does not open", e);
        }
        return new Writer(new ResultsDirectory(Path.of(path)), encoder);
    }

    private static final class Writer implements SinkWriter<RowData> {
        private final SerializationSchema<RowData> encoder;
        private final OutputStream rows;
        private final OutputStream watermarks;

        Writer(ResultsDirectory directory, SerializationSchema<RowData> encoder)
                throws IOException {
            this.encoder = encoder;
            this.rows = create(directory.rows());
            this.watermarks = create(directory.watermarks());
        }

        private static OutputStream create(Path file) throws IOException {
            Files.createDirectories(file.getParent());
            return new BufferedOutputStream(Files.newOutputStream(file));
        }

        @Override
        public void write(RowData row, Context context) throws IOException {
            rows.write(encoder.serialize(row));
            rows.write('\n');
        }

        /** What it says is complete is behind it. */
        @Override
        public void writeWatermark(Watermark watermark) throws IOException {
            rows.flush();
            String line = watermark.getTimestamp() + " " + System.currentTimeMillis() + "\n";
            watermarks.write(line.getBytes(StandardCharsets.UTF_8));
            watermarks.flush();
        }

        @Override
        public void flush(boolean endOfInput) throws IOException {
            rows.flush();
        }

        @Override
        public void close() throws IOException {
            try (rows) {
                watermarks.close();
            }
        }
    }
}
