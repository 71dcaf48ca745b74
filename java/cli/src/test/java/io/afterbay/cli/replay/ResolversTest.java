package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import io.afterbay.replay.merge.LiveWins;
import io.afterbay.replay.merge.NewestTimestamp;
import io.afterbay.replay.merge.OutputRow;
import io.afterbay.replay.merge.Resolver;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which resolver a merge has. */
class ResolversTest {
    @TempDir private Path jar;

    public static final class Ours implements Resolver {
        private static final long serialVersionUID = 1;

        @Override
        public long version(OutputRow row) {
            return 7;
        }
    }

    public static final class Another implements Resolver {
        private static final long serialVersionUID = 1;

        @Override
        public long version(OutputRow row) {
            return 8;
        }
    }

    private ClassLoader offering(String... classes) throws Exception {
        Path services = Files.createDirectories(jar.resolve("META-INF/services"));
        Files.writeString(services.resolve(Resolver.class.getName()), String.join("\n", classes));
        return new URLClassLoader(new URL[] {jar.toUri().toURL()}, getClass().getClassLoader());
    }

    @Test
    void theLiveJobWinsIfNothingElseIsSaid() throws Exception {
        assertThat(Resolvers.find(null, getClass().getClassLoader())).isInstanceOf(LiveWins.class);
        assertThat(Resolvers.find("live", offering(Ours.class.getName())))
                .isInstanceOf(LiveWins.class);
        assertThat(Resolvers.find("timestamp", null)).isInstanceOf(NewestTimestamp.class);
    }

    @Test
    void aJarMayOfferOne() throws Exception {
        assertThat(Resolvers.find(null, offering(Ours.class.getName()))).isInstanceOf(Ours.class);
        ClassLoader two = offering(Ours.class.getName(), Another.class.getName());
        assertThatThrownBy(() -> Resolvers.find(null, two))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("offers 2 resolvers")
                .hasMessageContaining("--resolver")
                .hasMessageContaining(Ours.class.getName());
        assertThat(Resolvers.find(Another.class.getName(), two)).isInstanceOf(Another.class);
    }

    @Test
    void whatIsNoneIsRefusedByItsName() {
        ClassLoader own = getClass().getClassLoader();
        assertThatThrownBy(() -> Resolvers.find("no.Such", own))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("--resolver no.Such: it is live, timestamp, or a class");
        assertThatThrownBy(() -> Resolvers.find("java.lang.Object", own))
                .hasMessageContaining("does not implement " + Resolver.class.getName());
    }
}
