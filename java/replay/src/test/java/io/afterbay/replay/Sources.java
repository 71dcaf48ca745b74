package io.afterbay.replay;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** Jobs whose records are numbers, each of which is its own time in milliseconds. */
final class Sources {
    private static final WatermarkStrategy<Long> TIMES =
            WatermarkStrategy.<Long>forBoundedOutOfOrderness(Duration.ofSeconds(1))
                    .withTimestampAssigner((record, ms) -> record);

    private Sources() {}

    /** The numbers below a limit, from a source that is bounded as it is. */
    static StreamGraph generated(long limit) {
        StreamExecutionEnvironment env = Replaying.environment();
        Replaying.count(
                env.fromSource(
                                new DataGeneratorSource<>(number -> number, limit, Types.LONG),
                                TIMES,
                                "numbers")
                        .uid("source"));
        return env.getStreamGraph();
    }

    /** Lines with the numbers below a limit, in files and out of order. */
    static Path files(Path directory, int limit, int files) throws IOException {
        List<List<String>> lines = new ArrayList<>();
        for (int file = 0; file < files; file++) {
            lines.add(new ArrayList<>());
        }
        Random random = new Random(limit);
        for (int number = 0; number < limit; number++) {
            lines.get(random.nextInt(files)).add(Integer.toString(number));
        }
        Files.createDirectories(directory);
        for (int file = 0; file < files; file++) {
            Files.write(directory.resolve(file + ".txt"), lines.get(file));
        }
        return directory;
    }

    /** A source that looks for new files for ever, of text: the time is that of the line. */
    static FileSource<String> monitored(Path directory) {
        return FileSource.forRecordStreamFormat(
                        new TextLineInputFormat(),
                        new org.apache.flink.core.fs.Path(directory.toUri()))
                .monitorContinuously(Duration.ofMillis(100))
                .build();
    }

    static WatermarkStrategy<String> timesOfLines() {
        return WatermarkStrategy.<String>forMonotonousTimestamps()
                .withTimestampAssigner((line, ms) -> Long.parseLong(line));
    }

    static StreamGraph monitoredFiles(Path directory) {
        StreamExecutionEnvironment env = Replaying.environment();
        Replaying.count(
                env.fromSource(monitored(directory), timesOfLines(), "lines")
                        .uid("source")
                        .map(Long::parseLong)
                        .returns(Types.LONG));
        return env.getStreamGraph();
    }

    /** Each number from one, inclusive, to another one, exclusive, once. */
    static Map<Long, Integer> once(long from, long to) {
        Map<Long, Integer> once = new HashMap<>();
        for (long number = from; number < to; number++) {
            once.put(number, 1);
        }
        return once;
    }
}
