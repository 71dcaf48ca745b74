package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.replay.merge.LiveWins;
import io.afterbay.replay.merge.NewestTimestamp;
import io.afterbay.replay.merge.Resolver;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Finds the resolver of a merge by what the user said, or in the job's jar. */
final class Resolvers {
    private Resolvers() {}

    /**
     * @param name as for --resolver, or null
     * @param userCode class loader of the job
     */
    static Resolver find(@Nullable String name, @Nullable ClassLoader userCode)
            throws CommandFailure {
        if (name == null) {
            return offered(userCode);
        }
        return switch (name) {
            case "live" -> new LiveWins();
            case "timestamp" -> new NewestTimestamp();
            default -> ofClass(name, userCode);
        };
    }

    private static Resolver offered(@Nullable ClassLoader userCode) throws CommandFailure {
        List<Resolver> found;
        try {
            found =
                    ServiceLoader.load(Resolver.class, userCode).stream()
                            .map(ServiceLoader.Provider::get)
                            .toList();
        } catch (ServiceConfigurationError e) {
            throw new CommandFailure(
                    "the job's jar offers a resolver that cannot be used: " + e.getMessage(), e);
        }
        if (found.size() > 1) {
            throw new CommandFailure(
                    "the job's jar offers %d resolvers: choose one by --resolver: %s"
                            .formatted(
                                    found.size(),
                                    String.join(
                                            ", ",
                                            found.stream()
                                                    .map(one -> one.getClass().getName())
                                                    .toList())));
        }
        return found.isEmpty() ? new LiveWins() : found.get(0);
    }

    private static Resolver ofClass(String name, @Nullable ClassLoader userCode)
            throws CommandFailure {
        try {
            Object made =
                    Class.forName(name, true, userCode).getDeclaredConstructor().newInstance();
            if (made instanceof Resolver resolver) {
                return resolver;
            }
            throw new CommandFailure(
                    "--resolver %s: it does not implement %s"
                            .formatted(name, Resolver.class.getName()));
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new CommandFailure(
                    "--resolver %s: it is live, timestamp, or a class of the job's jar with a public constructor without parameters (%s)"
                            .formatted(name, e),
                    e);
        }
    }
}
