package io.afterbay.cli.replay.live;

import io.afterbay.cli.remote.ClusterAddress;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A job that runs, and where.
 *
 * @param cluster null if it is the one that the replay is sent to
 * @param jobId 32 hexadecimal digits
 */
public record LiveAddress(@Nullable ClusterAddress cluster, String jobId) {
    private static final Pattern FORM = Pattern.compile("(?:(.+)/)?([0-9A-Fa-f]{32})");

    /** For picocli. */
    public static final class Converter implements ITypeConverter<LiveAddress> {
        @Override
        public LiveAddress convert(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                throw new TypeConversionException(
                        "'%s' is no JOBID or HOST:PORT/JOBID; a JOBID has 32 hexadecimal digits, as 'flink list' shows them"
                                .formatted(text));
            }
            String cluster = matcher.group(1);
            return new LiveAddress(
                    cluster == null ? null : new ClusterAddress.Converter().convert(cluster),
                    matcher.group(2).toLowerCase(Locale.ROOT));
        }
    }

    /** Of a job on the cluster that the replay is sent to, if it names none itself. */
    public LiveAddress on(ClusterAddress usual) {
        return cluster == null ? new LiveAddress(usual, jobId) : this;
    }
}
