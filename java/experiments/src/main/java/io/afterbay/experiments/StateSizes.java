package io.afterbay.experiments;

import io.afterbay.command.ByteSize;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Sizes of the state in an experiment. */
public final class StateSizes {
    private static final long MEBIBYTES_MAX = 1 << 20;

    private StateSizes() {}

    /** What was given, or the sizes of the short or the full form, in MiB. */
    public static List<Long> mebibytes(
            List<ByteSize> given, boolean quick, String ofQuick, String ofFull) {
        if (!given.isEmpty()) {
            return given.stream().map(ByteSize::mebibytes).toList();
        }
        return List.of((quick ? ofQuick : ofFull).split(",", -1)).stream()
                .map(size -> ByteSize.parse(size).mebibytes())
                .toList();
    }

    public static void check(CommandLine command, List<Long> mebibytes) {
        for (long size : mebibytes) {
            if (size < 1 || size > MEBIBYTES_MAX) {
                throw new ParameterException(command, "--sizes: use 1m to 1024g");
            }
        }
    }
}
