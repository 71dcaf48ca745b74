package io.afterbay.flink.kafka.workloads;

import io.afterbay.workloads.profiles.Dictionary;
import io.afterbay.workloads.profiles.Profile;
import io.afterbay.workloads.profiles.Profiles;
import io.afterbay.workloads.profiles.StandardTitle;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.base.source.hybrid.HybridSource;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Titles of a dictionary for the titles in profiles, from a topic of Kafka to another: the job of
 * the package {@code profiles}, live. It goes on where its consumer group has been.
 */
@Command(
        name = "profiles",
        description = "Brings titles of profiles into the words of a dictionary.",
        mixinStandardHelpOptions = true)
public final class ProfilesJob {
    @Option(names = "--bootstrap", required = true, paramLabel = "HOST:PORT")
    private String bootstrap = "";

    @Option(names = "--profiles", paramLabel = "TOPIC", defaultValue = "profiles")
    private String profiles = "";

    @Option(names = "--titles", paramLabel = "TOPIC", defaultValue = "titles")
    private String titles = "";

    @Option(names = "--dictionary", paramLabel = "N", defaultValue = "2")
    private int dictionary;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            defaultValue = "titles",
            description = "The consumer group; a new one begins with the oldest profiles.")
    private String group = "";

    @Option(
            names = "--exactly-once",
            description = "Write in transactions, which checkpoints commit.")
    private boolean exactlyOnce;

    @Option(
            names = "--past-until",
            paramLabel = "MS",
            description =
                    "Read all that is older than this first, then go on live, as one source"
                            + " (HybridSource).")
    private @Nullable Long pastUntilMs;

    ProfilesJob() {}

    public static void main(String[] args) throws Exception {
        ProfilesJob job = new ProfilesJob();
        CommandLine.ParseResult parsed = new CommandLine(job).parseArgs(args);
        if (!CommandLine.printHelpIfRequested(parsed)) {
            StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
            job.addTo(env);
            env.execute("titles by dictionary " + job.dictionary);
        }
    }

    void addTo(StreamExecutionEnvironment env) {
        env.configure(Profiles.settings());
        Profiles.standardize(
                        env.fromSource(
                                        source(),
                                        Profiles.watermarks(),
                                        "profiles",
                                        // A HybridSource does not say it.
                                        TypeInformation.of(Profile.class))
                                .uid("profiles"),
                        Dictionary.of(dictionary).version())
                .sinkTo(sink())
                .name("titles")
                .uid("titles");
    }

    private Source<Profile, ?, ?> source() {
        if (pastUntilMs == null) {
            return kafka().setStartingOffsets(
                            OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST))
                    .build();
        }
        OffsetsInitializer until = OffsetsInitializer.timestamp(pastUntilMs);
        return HybridSource.builder(
                        kafka().setStartingOffsets(OffsetsInitializer.earliest())
                                .setBounded(until)
                                .build())
                .addSource(kafka().setStartingOffsets(until).build())
                .build();
    }

    private KafkaSourceBuilder<Profile> kafka() {
        return KafkaSource.<Profile>builder()
                .setBootstrapServers(bootstrap)
                .setTopics(profiles)
                .setGroupId(group)
                .setDeserializer(new ProfileDeserializer());
    }

    private KafkaSink<StandardTitle> sink() {
        return KafkaSink.<StandardTitle>builder()
                .setBootstrapServers(bootstrap)
                .setDeliveryGuarantee(
                        exactlyOnce
                                ? DeliveryGuarantee.EXACTLY_ONCE
                                : DeliveryGuarantee.AT_LEAST_ONCE)
                .setTransactionalIdPrefix(group)
                .setProperty("transaction.timeout.ms", "600000")
                .setRecordSerializer(
                        KafkaRecordSerializationSchema.<StandardTitle>builder()
                                .setTopic(titles)
                                .setKeySerializationSchema(new TitlePart.Key())
                                .setValueSerializationSchema(new TitlePart.Value())
                                .build())
                .build();
    }
}
