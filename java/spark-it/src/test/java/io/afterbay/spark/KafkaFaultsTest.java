package io.afterbay.spark;

import io.afterbay.spark.QueryProcess.Mode;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@link ProcessFaultsTest} on Kafka: what a driver or an executor has read when it is killed is
 * read again, as far as the offset log says.
 */
@Timeout(value = 150, unit = TimeUnit.MINUTES)
@LongForm
class KafkaFaultsTest extends FaultTest {
    private static Broker broker;

    private final List<InputTopic> topics = new ArrayList<>();

    @BeforeAll
    static void startBroker(@TempDir Path files) throws Exception {
        broker = Broker.start(files);
    }

    @AfterAll
    static void stopBroker() throws Exception {
        broker.close();
    }

    @AfterEach
    void closeTopics() {
        topics.forEach(InputTopic::close);
    }

    /** Each test has topics of its own. */
    @Override
    Input newInput(QueryKind kind) throws Exception {
        InputTopic topic = InputTopic.create(broker.bootstrap(), kind.name() + topicSuffix());
        topics.add(topic);
        return topic;
    }

    @Override
    String inputs() {
        return QueryProcess.KAFKA + broker.bootstrap() + topicSuffix();
    }

    /** Of the temporary directory, which is another one for each test. */
    private String topicSuffix() {
        return "-" + all.getFileName();
    }

    @Test
    void killsOfDriverAndExecutorsLoseNothingAndDoubleNothing() throws Exception {
        Kills kills =
                killInAll(TestForm.SPARK_KAFKA_KILLS, QueryKind.WINDOWS, QueryKind.FIRST_ONES);
        checkGoesOn(kills.subjects());
    }

    /** The control, which does not depend on where records come from: once is enough. */
    @Test
    void withoutAcknowledgementsVanillaSparkDoesNotGoOn() throws Exception {
        checkControl(Mode.UNGATED);
    }
}
