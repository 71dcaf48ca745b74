package io.afterbay.store.testkit;

import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Local files that fail as planned: {@code new FaultyLocalFiles(LocalFiles.system()).on(READ, 7,
 * Fault.fail("Input/output error"))}. Operations are counted from 1, each kind by itself and over
 * all files. Thread safe; plan before use.
 */
public final class FaultyLocalFiles implements LocalFiles {
    /** What can go wrong. */
    public enum Operation {
        CREATE_DIRECTORIES,
        CREATE,
        OPEN,
        LINK,
        WRITE,
        READ,
        DELETE,
        DELETE_DIRECTORY,
        LIST
    }

    /** How it goes wrong. */
    public sealed interface Fault {
        /** Throws an {@link IOException} with this message. */
        record Fail(String message) implements Fault {}

        /** Flips one bit of what is read or written. */
        record FlipBit(int bit) implements Fault {}

        /** Says that it wrote, and does not. */
        record LoseWrite() implements Fault {}

        /** A read finds the end of the file. */
        record EndOfFile() implements Fault {}

        /** Transfers no more than so many bytes; what every file system may do. */
        record TransferAtMost(int bytes) implements Fault {}

        /** Takes its time. */
        record Wait(Duration duration) implements Fault {}

        /** Takes as long as it takes until something has happened. */
        record Until(BooleanSupplier condition) implements Fault {}

        static Fault fail(String message) {
            return new Fail(message);
        }

        static Fault diskFull() {
            return new Fail("No space left on device");
        }

        static Fault inputOutputError() {
            return new Fail("Input/output error");
        }
    }

    private record Rule(
            Operation operation, long first, long last, Predicate<Path> files, Fault fault) {
        boolean applies(Operation operation, long count, Path path) {
            return this.operation == operation
                    && count >= first
                    && count <= last
                    && files.test(path);
        }
    }

    private final LocalFiles files;
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final Map<Operation, AtomicLong> counts = new EnumMap<>(Operation.class);
    private final Set<Path> struck = ConcurrentHashMap.newKeySet();
    private final AtomicInteger openFiles = new AtomicInteger();

    public FaultyLocalFiles(LocalFiles files) {
        this.files = files;
        for (Operation operation : Operation.values()) {
            counts.put(operation, new AtomicLong());
        }
    }

    /** Plans a fault at the n-th operation of a kind. */
    public FaultyLocalFiles on(Operation operation, long nth, Fault fault) {
        return between(operation, nth, nth, fault);
    }

    /** Plans a fault at all operations of a kind on some files; they are asked each time. */
    public FaultyLocalFiles at(Operation operation, Predicate<Path> which, Fault fault) {
        rules.add(new Rule(operation, 1, Long.MAX_VALUE, which, fault));
        return this;
    }

    /** Plans a fault at the n-th operation of a kind and at all that follow. */
    public FaultyLocalFiles from(Operation operation, long nth, Fault fault) {
        return between(operation, nth, Long.MAX_VALUE, fault);
    }

    /** Plans a fault at the n-th operations of a kind for n from first to last, inclusive. */
    public FaultyLocalFiles between(Operation operation, long first, long last, Fault fault) {
        rules.add(new Rule(operation, first, last, path -> true, fault));
        return this;
    }

    /** Forgets the plan; the counts go on. */
    public void heal() {
        rules.clear();
    }

    /** Operations of a kind so far. */
    public long count(Operation operation) {
        return counter(operation).get();
    }

    /** The files that faults have struck. */
    public Set<Path> struck() {
        return Set.copyOf(struck);
    }

    /** Files that were created and not closed yet. */
    public int openFiles() {
        return openFiles.get();
    }

    private AtomicLong counter(Operation operation) {
        AtomicLong counter = counts.get(operation);
        if (counter == null) {
            throw new AssertionError(operation);
        }
        return counter;
    }

    /** Counts an operation; waits or fails if so planned, and returns other faults. */
    private @Nullable Fault begin(Operation operation, Path path) throws IOException {
        long count = counter(operation).incrementAndGet();
        for (Rule rule : rules) {
            if (rule.applies(operation, count, path)) {
                struck.add(path);
                return strike(rule.fault);
            }
        }
        return null;
    }

    private static Fault strike(Fault fault) throws IOException {
        if (fault instanceof Fault.Fail fail) {
            throw new IOException(fail.message);
        }
        if (fault instanceof Fault.Wait wait) {
            sleep(wait.duration);
        }
        if (fault instanceof Fault.Until until) {
            await(until.condition);
        }
        return fault;
    }

    private static void await(BooleanSupplier condition) throws IOException {
        try {
            Await.until("what a slow file waits for", condition::getAsBoolean);
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private static void sleep(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        begin(Operation.CREATE_DIRECTORIES, directory);
        files.createDirectories(directory);
    }

    @Override
    public LocalFile create(Path path) throws IOException {
        begin(Operation.CREATE, path);
        LocalFile file = files.create(path);
        openFiles.incrementAndGet();
        return new FaultyFile(path, file);
    }

    @Override
    public LocalFile open(Path path) throws IOException {
        begin(Operation.OPEN, path);
        LocalFile file = files.open(path);
        openFiles.incrementAndGet();
        return new FaultyFile(path, file);
    }

    @Override
    public void link(Path existing, Path link) throws IOException {
        begin(Operation.LINK, link);
        files.link(existing, link);
    }

    @Override
    public void delete(Path path) throws IOException {
        begin(Operation.DELETE, path);
        files.delete(path);
    }

    @Override
    public void deleteDirectory(Path directory) throws IOException {
        begin(Operation.DELETE_DIRECTORY, directory);
        files.deleteDirectory(directory);
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        begin(Operation.LIST, directory);
        return files.list(directory);
    }

    private final class FaultyFile implements LocalFile {
        private final Path path;
        private final LocalFile file;
        private boolean closed;

        FaultyFile(Path path, LocalFile file) {
            this.path = path;
            this.file = file;
        }

        @Override
        public int write(ByteBuffer source, long position) throws IOException {
            Fault fault = begin(Operation.WRITE, path);
            if (fault instanceof Fault.LoseWrite) {
                int lost = source.remaining();
                source.position(source.limit());
                return lost;
            }
            if (fault instanceof Fault.FlipBit flip) {
                return writeAll(flipped(source, flip.bit), position);
            }
            return limited(source, fault, part -> file.write(part, position));
        }

        private int writeAll(ByteBuffer source, long position) throws IOException {
            int written = 0;
            while (source.hasRemaining()) {
                written += file.write(source, position + written);
            }
            return written;
        }

        /** A copy of what remains, with one bit flipped; consumes the source. */
        private static ByteBuffer flipped(ByteBuffer source, int bit) {
            ByteBuffer copy = ByteBuffer.allocateDirect(source.remaining());
            copy.put(source).flip();
            flip(copy, 0, copy.limit(), bit);
            return copy;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            Fault fault = begin(Operation.READ, path);
            if (fault instanceof Fault.EndOfFile) {
                return -1;
            }
            int start = target.position();
            int bytes = limited(target, fault, part -> file.read(part, position));
            if (fault instanceof Fault.FlipBit flip && bytes > 0) {
                flip(target, start, bytes, flip.bit);
            }
            return bytes;
        }

        private static void flip(ByteBuffer buffer, int start, int bytes, int bit) {
            int at = start + Math.floorMod(bit / 8, bytes);
            buffer.put(at, (byte) (buffer.get(at) ^ 1 << Math.floorMod(bit, 8)));
        }

        @Override
        public void close() throws IOException {
            synchronized (this) {
                if (!closed) {
                    closed = true;
                    openFiles.decrementAndGet();
                }
            }
            file.close();
        }
    }

    private interface Transfer {
        int run(ByteBuffer buffer) throws IOException;
    }

    private static int limited(ByteBuffer buffer, @Nullable Fault fault, Transfer transfer)
            throws IOException {
        if (!(fault instanceof Fault.TransferAtMost most) || buffer.remaining() <= most.bytes) {
            return transfer.run(buffer);
        }
        int limit = buffer.limit();
        try {
            return transfer.run(buffer.limit(buffer.position() + most.bytes));
        } finally {
            buffer.limit(limit);
        }
    }
}
