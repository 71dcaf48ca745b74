package io.afterbay.spark;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FSDataInputStream;

/**
 * The name of the state store's class in the offset log. Spark writes it with each batch, and at a
 * restart goes on with what is there, whatever the session says: it would need our class for ever,
 * and an older query would never get it. So the log names Spark's own class, whose files they are,
 * and a query whose session has ours reads ours.
 *
 * <pre>
 *   v1
 *   {"batchWatermarkMs":0,...,"conf":{"spark.sql.streaming.stateStore.providerClass":"CLASS",...}}
 *   offset of source 0
 *   ...
 * </pre>
 */
final class ProviderInLog {
    private static final String OURS = entry(QuerySettings.STAGGERED);
    private static final String SPARKS = entry(QuerySettings.ROCKSDB);

    private ProviderInLog() {}

    private static String entry(String className) {
        return "\"" + QuerySettings.PROVIDER + "\":\"" + className + "\"";
    }

    /** Before a local copy is published. */
    static void nameSparks(Path local) throws IOException {
        String text = Files.readString(local);
        Files.writeString(local, replaced(text, OURS, SPARKS));
    }

    /** What a query that has our class reads. */
    static FSDataInputStream namingOurs(InputStream log) throws IOException {
        String text = new String(log.readAllBytes(), StandardCharsets.UTF_8);
        byte[] bytes = replaced(text, SPARKS, OURS).getBytes(StandardCharsets.UTF_8);
        return new FSDataInputStream(new BytesInput(bytes));
    }

    /** In the second line only: the others are the sources'. */
    private static String replaced(String text, String from, String to) {
        int begin = text.indexOf('\n') + 1;
        int newline = text.indexOf('\n', begin);
        int end = newline < 0 ? text.length() : newline;
        return text.substring(0, begin)
                + text.substring(begin, end).replace(from, to)
                + text.substring(end);
    }
}
