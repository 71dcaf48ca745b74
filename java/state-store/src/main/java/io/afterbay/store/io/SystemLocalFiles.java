package io.afterbay.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** {@link LocalFiles} on {@link FileChannel}. */
enum SystemLocalFiles implements LocalFiles {
    INSTANCE;

    @Override
    public void createDirectories(Path directory) throws IOException {
        Files.createDirectories(directory);
    }

    @Override
    public LocalFile create(Path path) throws IOException {
        return new ChannelFile(
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE));
    }

    @Override
    public void delete(Path path) throws IOException {
        Files.deleteIfExists(path);
    }

    @Override
    public void deleteDirectory(Path directory) throws IOException {
        Files.deleteIfExists(directory);
    }

    @Override
    public List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }

    private record ChannelFile(FileChannel channel) implements LocalFile {
        @Override
        public int write(ByteBuffer source, long position) throws IOException {
            return channel.write(source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return channel.read(target, position);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
