package io.afterbay.edge;

import io.afterbay.command.Durations;
import io.afterbay.edge.link.BitRate;
import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.live.LiveOptions;
import io.afterbay.edge.live.LiveOptions.Victim;
import io.afterbay.edge.live.LiveOptions.WholeWay;
import io.afterbay.edge.mqtt.BrokerAddress;
import io.afterbay.edge.run.FlinkCluster;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Stack;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Whether a job is run live, over which links, and what happens meanwhile. */
final class LiveArguments {
    private static final String OWN_BROKER = "mosquitto";
    private static final long USUAL_LINK = 8_000_000;
    private static final int TOPIC_BYTES_MAX = 65_535;
    private static final Pattern BROKERS =
            Pattern.compile("[^\\s,]+:\\d{1,5}(,[^\\s,]+:\\d{1,5})*");

    @Option(
            names = "--link",
            paramLabel = "RATE",
            converter = BitRate.class,
            description = {
                "Run it live: play what the sites see, with a program at each site, a gateway, and a"
                        + " link of this rate between each site and the cloud, for example 800kbit."
                        + " The other options of a live run imply it, with 8mbit."
            })
    private @Nullable Long link;

    @Option(
            names = "--round-trip",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "There and back on a link, beside its rate (default: 20ms).")
    private @Nullable Duration roundTrip;

    @Option(
            names = "--play",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "Play all that the sites see within this time (default: 20s).")
    private @Nullable Duration play;

    @Option(
            names = "--outage",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "For so long no link carries anything, from a quarter of the play on.")
    private @Nullable Duration outage;

    @Option(
            names = "--kill",
            paramLabel = "PROGRAM",
            converter = VictimName.class,
            description = "At half of the play, kill -9: agent or gateway.")
    private @Nullable Victim kill;

    @Option(
            names = "--mqtt",
            arity = "0..1",
            paramLabel = "mqtt://HOST:PORT",
            preprocessor = AddressOrNot.class,
            description = {
                "Run it live, with agents that read messages: each line is published on the topic of"
                        + " its site, at a mosquitto that is started for this, or at the broker"
                        + " that is given."
            })
    private @Nullable String mqtt;

    @Option(
            names = "--mosquitto",
            paramLabel = "FILE",
            description = {
                "The mosquitto to start, if it is neither in PATH nor in /usr/sbin, /usr/local/sbin or"
                        + " /opt/homebrew/sbin."
            })
    private @Nullable Path mosquitto;

    @Option(
            names = "--sequence",
            paramLabel = "COLUMN",
            description =
                    "A column of whole numbers that grow with each row: agents leave out rows of"
                            + " messages that come twice, as after --kill agent.")
    private @Nullable String sequence;

    @Option(
            names = "--by",
            paramLabel = "COLUMN",
            description = {
                "The column within whose values the numbers of --sequence grow, such as a sensor."
            })
    private @Nullable String by;

    @Option(
            names = "--publish",
            paramLabel = "TOPIC",
            description = {
                "Agents also publish their rows on this topic of the broker of --mqtt, as 'edge agent"
                        + " --publish' does, and the run compares them with those at the gateway. They"
                        + " have to be final at the sites: with --local."
            })
    private @Nullable String publish;

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            description = {
                "Run it live, through your own Kafka: the gateway writes a topic there, and when all"
                        + " has come, Flink reads it with Kafka's connector, which --jar names. The"
                        + " run's topics, afterbay-run-…, are removed at its end."
            })
    private @Nullable String bootstrap;

    @Option(
            names = "--on",
            paramLabel = "HOST:PORT",
            description = {
                "With --bootstrap: the upper half runs on your own Flink cluster, at the REST address of"
                        + " its JobManager. It reaches Kafka by the same addresses."
            })
    private @Nullable String on;

    @Option(
            names = "--whole",
            hidden = true,
            converter = WholeWayName.class,
            description =
                    "How the whole job gets what the sites see: stream, producers or mini-cluster.")
    private @Nullable WholeWay whole;

    /** For picocli: what stands behind --mqtt is an address, or has nothing to do with it. */
    static final class AddressOrNot implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments,
                CommandSpec command,
                ArgSpec argument,
                Map<String, Object> info) {
            boolean isAttached = !" ".equals(info.get("separator"));
            if (!isAttached && (arguments.isEmpty() || !arguments.peek().contains("://"))) {
                arguments.push(OWN_BROKER);
            }
            return false;
        }
    }

    /** For picocli, in small letters. */
    static final class WholeWayName implements ITypeConverter<WholeWay> {
        @Override
        public WholeWay convert(String text) {
            return switch (text) {
                case "stream" -> WholeWay.STREAM;
                case "producers" -> WholeWay.PRODUCERS;
                case "mini-cluster" -> WholeWay.MINI_CLUSTER;
                default ->
                        throw new TypeConversionException(
                                "'%s' is none of stream, producers and mini-cluster"
                                        .formatted(text));
            };
        }
    }

    /** For picocli, in small letters. */
    static final class VictimName implements ITypeConverter<Victim> {
        @Override
        public Victim convert(String text) {
            return switch (text) {
                case "agent" -> Victim.AGENT;
                case "gateway" -> Victim.GATEWAY;
                default ->
                        throw new TypeConversionException(
                                "'%s' is neither agent nor gateway".formatted(text));
            };
        }
    }

    /**
     * Null if it is not run live: without any option of a live run.
     *
     * @throws ParameterException if an option needs another one
     */
    @Nullable LiveOptions options(CommandLine command) {
        LiveOptions.Messages messages = messages(command);
        LiveOptions.Cloud cloud = cloud(command);
        if (Stream.of(link, messages, roundTrip, play, outage, kill, whole, cloud)
                .allMatch(Objects::isNull)) {
            return null;
        }
        Duration playFor = play == null ? Duration.ofSeconds(20) : play;
        if (playFor.isZero()) {
            throw new ParameterException(command, "--play: at least 1ms");
        }
        return new LiveOptions(
                new LinkShape(
                        link == null ? USUAL_LINK : link,
                        roundTrip == null ? Duration.ofMillis(20) : roundTrip),
                playFor,
                outage == null ? Duration.ZERO : outage,
                kill,
                whole == null ? WholeWay.STREAM : whole,
                messages,
                cloud);
    }

    private LiveOptions.@Nullable Cloud cloud(CommandLine command) {
        if (bootstrap == null) {
            if (on != null) {
                throw new ParameterException(
                        command,
                        "--on %s: a cluster reads what sites send from Kafka: give --bootstrap HOST:PORT"
                                .formatted(on));
            }
            return null;
        }
        if (!BROKERS.matcher(bootstrap).matches()) {
            throw new ParameterException(
                    command,
                    "--bootstrap: '%s' is no HOST:PORT, for example localhost:9092"
                            .formatted(bootstrap));
        }
        if (publish != null) {
            throw new ParameterException(
                    command,
                    "--publish is compared with files of the gateway: run it without --bootstrap");
        }
        try {
            return new LiveOptions.Cloud(bootstrap, on == null ? null : FlinkCluster.parse(on));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, "--on: " + e.getMessage(), e);
        }
    }

    private LiveOptions.@Nullable Messages messages(CommandLine command) {
        if (by != null && sequence == null) {
            throw new ParameterException(command, "--by is of the numbers of --sequence COLUMN");
        }
        if (mqtt == null) {
            if (publish != null) {
                throw new ParameterException(
                        command,
                        "--publish %s is at the sites' broker: give --mqtt, or --mqtt mqtt://HOST:PORT"
                                .formatted(publish));
            }
            if (mosquitto != null || sequence != null) {
                throw new ParameterException(
                        command, "--mosquitto and --sequence are of messages, with --mqtt");
            }
            return null;
        }
        if (publish != null && !isTopic(publish)) {
            throw new ParameterException(
                    command,
                    "--publish '%s': one topic is needed, such as rooms/final: no + and #, and no $ at"
                                    .formatted(publish)
                            + " its beginning, which are the broker's own");
        }
        if (mqtt.equals(OWN_BROKER)) {
            return messagesOf(null);
        }
        if (mosquitto != null) {
            throw new ParameterException(
                    command, "--mosquitto is started, and --mqtt names a broker that runs already");
        }
        try {
            return messagesOf(BrokerAddress.parse(mqtt));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command, "--mqtt: " + e.getMessage(), e);
        }
    }

    private static boolean isTopic(String text) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        return bytes > 0
                && bytes <= TOPIC_BYTES_MAX
                && !text.startsWith("$")
                && text.chars().noneMatch(c -> c == '+' || c == '#' || Character.isISOControl(c));
    }

    /**
     * @param local columns of the job that are local to a site
     * @throws ParameterException if rows are to be published, and cannot be final
     */
    void checkPublished(CommandLine command, List<String> local) {
        if (publish != null && local.isEmpty()) {
            throw new ParameterException(
                    command,
                    ("--publish %s is of rows that are final at a site: name the columns whose values"
                                    + " each occur at one site only with --local COLUMN (in an app"
                                    + " file, local of the source)")
                            .formatted(publish));
        }
    }

    private LiveOptions.Messages messagesOf(@Nullable BrokerAddress broker) {
        return new LiveOptions.Messages(
                broker,
                mosquitto,
                sequence,
                by,
                publish,
                LiveOptions.Messages.USUAL_PATIENCE,
                false);
    }
}
