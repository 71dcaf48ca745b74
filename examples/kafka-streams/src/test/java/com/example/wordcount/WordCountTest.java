package com.example.wordcount;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import javax.management.ObjectName;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topology with its properties and a real RocksDB, without a broker. */
class WordCountTest {
    @TempDir private Path state;

    @Test
    void countsWordsInAStoreThatHasATriggerOfItsOwn() throws Exception {
        Properties properties = WordCount.read(Path.of("streams.properties"));
        properties.setProperty(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        try (TopologyTestDriver driver = new TopologyTestDriver(WordCount.topology(), properties)) {
            var lines =
                    driver.createInputTopic(
                            WordCount.INPUT, new ByteArraySerializer(), new StringSerializer());
            lines.pipeInput("To be, or not");
            lines.pipeInput("to be");
            assertEquals(
                    Map.of("to", 2L, "be", 2L, "or", 1L, "not", 1L),
                    driver.createOutputTopic(
                                    WordCount.OUTPUT,
                                    new StringDeserializer(),
                                    new LongDeserializer())
                            .readKeyValuesToMap());
            assertEquals(1, instances());
        }
    }

    /** Stores that Afterbay looks after in this process. */
    private static Object instances() throws Exception {
        return ManagementFactory.getPlatformMBeanServer()
                .getAttribute(new ObjectName("io.afterbay:type=RocksDBDesync"), "instances");
    }
}
