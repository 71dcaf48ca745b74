package io.afterbay.edge;

import io.afterbay.command.Durations;
import io.afterbay.edge.link.BitRate;
import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.live.LiveOptions;
import io.afterbay.edge.live.LiveOptions.Victim;
import io.afterbay.edge.live.LiveOptions.WholeWay;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Whether a job is run live, over which links, and what happens meanwhile. */
final class LiveArguments {

    @Option(
            names = "--link",
            paramLabel = "RATE",
            converter = BitRate.class,
            description = {
                "Run it live: play what the sites see, with a program at each site, a gateway, and a"
                        + " link of this rate between each site and the cloud, for example 800kbit."
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
            names = "--whole",
            hidden = true,
            converter = WholeWayName.class,
            description =
                    "How the whole job gets what the sites see: stream, producers or mini-cluster.")
    private @Nullable WholeWay whole;

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
     * Null if it is not run live.
     *
     * @throws ParameterException if an option needs another one
     */
    @Nullable LiveOptions options(CommandLine command) {
        if (link == null) {
            if (whole != null) {
                throw new ParameterException(command, "--whole is of a live run, with --link RATE");
            }
            for (Object given : new Object[] {roundTrip, play, outage, kill}) {
                if (given != null) {
                    throw new ParameterException(
                            command,
                            "--round-trip, --play, --outage and --kill need --link RATE, which runs"
                                    + " the job live");
                }
            }
            return null;
        }
        Duration playFor = play == null ? Duration.ofSeconds(20) : play;
        if (playFor.isZero()) {
            throw new ParameterException(command, "--play: at least 1ms");
        }
        return new LiveOptions(
                new LinkShape(link, roundTrip == null ? Duration.ofMillis(20) : roundTrip),
                playFor,
                outage == null ? Duration.ZERO : outage,
                kill,
                whole == null ? WholeWay.STREAM : whole);
    }
}
