package com.example.wordcount;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Counts words.
 *
 * <pre>
 *   lines --> words --> by word --> count (RocksDB) --> counts
 * </pre>
 *
 * <p>Nothing in here knows of Afterbay: that is in the properties.
 */
public final class WordCount {
    static final String INPUT = "lines";
    static final String OUTPUT = "counts";

    private WordCount() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length != 1) {
            System.err.println("usage: java -jar word-count.jar streams.properties");
            System.exit(2);
        }
        KafkaStreams streams = new KafkaStreams(topology(), read(Path.of(args[0])));
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () -> {
                                    streams.close();
                                    ended.countDown();
                                }));
        streams.start();
        ended.await();
    }

    static Properties read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return properties;
    }

    static Topology topology() {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(INPUT, Consumed.with(Serdes.ByteArray(), Serdes.String()))
                .flatMapValues(WordCount::words)
                .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
                .count(Materialized.as("counts"))
                .toStream()
                .to(OUTPUT, Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    private static List<String> words(String line) {
        return Stream.of(line.toLowerCase(Locale.ROOT).split("\\W+"))
                .filter(word -> !word.isEmpty())
                .toList();
    }
}
