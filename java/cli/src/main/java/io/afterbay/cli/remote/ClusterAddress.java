package io.afterbay.cli.remote;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Where the REST interface of a cluster is. */
public record ClusterAddress(String host, int port) {
    private static final Pattern FORM =
            Pattern.compile("(?:http://)?([A-Za-z0-9._-]+|\\[[0-9a-fA-F:.]+\\]):(\\d{1,5})/?");
    private static final int PORT_MAX = 65535;

    /** For picocli. */
    public static final class Converter implements ITypeConverter<ClusterAddress> {
        @Override
        public ClusterAddress convert(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > PORT_MAX) {
                throw new TypeConversionException(
                        "'" + text + "' is no HOST:PORT; for example localhost:8081");
            }
            return new ClusterAddress(matcher.group(1), Integer.parseInt(matcher.group(2)));
        }
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
