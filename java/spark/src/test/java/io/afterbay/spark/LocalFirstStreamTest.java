package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.LocalFirstStream.Handover;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose the local copy is when its writer fails. */
class LocalFirstStreamTest {
    @TempDir private Path dir;
    private int cancellations;

    /** Fails when it takes over the copy, or behind that. */
    private final class Failing implements Handover {
        private final @Nullable Throwable failure;

        Failing(@Nullable Throwable failure) {
            this.failure = failure;
        }

        @Override
        public long accept(Path local) throws IOException {
            if (failure instanceof IOException e) {
                throw e;
            }
            if (failure instanceof Error e) {
                throw e;
            }
            return 1;
        }

        @Override
        public void await(long ticket) throws IOException {
            throw new IOException("ticket " + ticket + " was not published");
        }

        @Override
        public void cancelled() {
            cancellations++;
        }
    }

    @Test
    void isDeletedIfNobodyTakesIt() {
        LocalFirstStream out =
                LocalFirstStream.create(dir, new Failing(new IOException("no room")));
        assertThatThrownBy(out::close).hasMessage("no room");
        assertThat(dir).isEmptyDirectory();
        assertThat(cancellations).isEqualTo(1);
    }

    @Test
    void isThePublishersOnceItIsTaken() {
        LocalFirstStream out = LocalFirstStream.create(dir, new Failing(null));
        assertThatThrownBy(out::close).hasMessage("ticket 1 was not published");
        assertThat(dir).isNotEmptyDirectory();
        assertThat(cancellations).isEqualTo(1);
    }

    /** Spark cancels what could not be written, and throws its reason after that. */
    @Test
    void isDeletedWhenItIsCancelledOnAFullDisk() throws Exception {
        Path local = Files.createFile(dir.resolve("copy"));
        OutputStream full =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("No space left on device");
                    }

                    @Override
                    public void close() throws IOException {
                        write(0);
                    }
                };
        LocalFirstStream out = new LocalFirstStream(full, local, new Failing(null));
        assertThatThrownBy(() -> out.write(1)).hasMessage("No space left on device");
        out.cancel();
        assertThat(dir).isEmptyDirectory();
        assertThat(cancellations).isEqualTo(1);
    }

    /** The file waits in the queue, and its threads are begun again. */
    @Test
    void isThePublishersIfThereWasNoThreadForIt() {
        Error noThread = new OutOfMemoryError("unable to create native thread");
        LocalFirstStream out = LocalFirstStream.create(dir, new Failing(noThread));
        assertThatThrownBy(out::close).isSameAs(noThread);
        assertThat(dir).isNotEmptyDirectory();
    }
}
