package io.afterbay.orphans;

import static io.afterbay.orphans.StorageFixture.aged;
import static io.afterbay.orphans.StorageFixture.checkpoint;
import static io.afterbay.orphans.StorageFixture.file;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/** {@code afterbay doctor orphans} on storage that is made by hand. */
class OrphansTest {
    private static final Duration OLD = Duration.ofHours(3);
    private static final Duration OLDER = Duration.ofHours(5);
    private static final Duration YOUNG = Duration.ofMinutes(20);

    @TempDir private Path directory;
    private StorageFixture storage;
    private Path job;
    private Path shared;
    private Path referenced;
    private Path orphan;
    private Path metadata;
    private String out = "";
    private String err = "";

    @BeforeEach
    void open() throws IOException {
        directory = directory.toRealPath();
        storage = new StorageFixture(directory);
        job = storage.job(1);
        shared = job.resolve("shared");
        referenced = file(shared, OLD);
        orphan = file(shared, OLDER);
        metadata = checkpoint(job.resolve("chk-7"), OLD, referenced);
    }

    private int run(Path target, String... options) {
        StringWriter output = new StringWriter();
        StringWriter errors = new StringWriter();
        CommandLine command = Orphans.commandLine();
        command.setOut(new PrintWriter(output, true)).setErr(new PrintWriter(errors, true));
        String[] args = new String[options.length + 1];
        args[0] = target.toString();
        System.arraycopy(options, 0, args, 1, options.length);
        int code = command.execute(args);
        out = output.toString();
        err = errors.toString();
        return code;
    }

    @Test
    void listsAndDeletesNothingUnlessAsked() {
        assertThat(run(directory)).isZero();
        assertThat(out)
                .contains(orphan.getFileName().toString(), "5 h", "10 bytes", "Nothing was deleted")
                .doesNotContain(referenced.getFileName().toString());
        assertThat(orphan).exists();
    }

    @Test
    void deletesWhatNobodyNeeds() throws IOException {
        Path abandoned = aged(file(job.resolve("chk-6"), OLD).getParent(), OLD);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(out).contains("2 files, 20 bytes: are gone");
        assertThat(orphan).doesNotExist();
        assertThat(abandoned).doesNotExist();
        assertThat(referenced).exists();
        assertThat(metadata).exists();
        assertThat(run(directory, "--delete")).isZero();
        assertThat(out).contains("none");
    }

    @Test
    void deletesWhatSeveralJobsLeft() throws IOException {
        Path other = file(storage.job(2).resolve("shared"), OLDER);
        checkpoint(storage.job(2).resolve("chk-1"), OLD);

        assertThat(run(directory, "--delete")).as(err).isZero();
        assertThat(orphan).doesNotExist();
        assertThat(other).doesNotExist();
        assertThat(referenced).exists();
    }

    @Test
    void keepsWhatIsYoung() throws IOException {
        Path young = file(shared, YOUNG);
        Path future = file(shared, Duration.ofHours(-1));
        assertThat(run(directory, "--delete")).isZero();
        assertThat(young).exists();
        assertThat(future).exists();
        assertThat(orphan).doesNotExist();
        assertThat(run(directory, "--delete", "--older-than", "15min")).isZero();
        assertThat(young).doesNotExist();
    }

    @Test
    void refusesALimitThatACheckpointMayExceed() {
        assertThat(run(directory, "--delete", "--older-than", "9min")).isEqualTo(2);
        assertThat(err).contains("--older-than: less than 10min", "--force");
        assertThat(orphan).exists();
        assertThat(run(directory, "--delete", "--older-than", "9min", "--force")).isZero();
        assertThat(orphan).doesNotExist();
    }

    /** What is newer than the last complete checkpoint may belong to the one that is not. */
    @Test
    void keepsWhatMayBelongToACheckpointUnderWay() throws IOException {
        Path upload = file(shared, Duration.ofHours(2));
        Path exclusive = file(job.resolve("chk-8"), Duration.ofHours(2));
        aged(exclusive.getParent(), YOUNG);
        assertThat(run(directory, "--delete")).isEqualTo(1);
        assertThat(err).contains("chk-8", "not complete");
        assertThat(upload).exists();
        assertThat(exclusive).exists();
        assertThat(orphan).as("older than the last complete checkpoint").doesNotExist();
        aged(exclusive.getParent(), OLD);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(upload).doesNotExist();
        assertThat(exclusive.getParent()).doesNotExist();
    }

    /** Ways in which a {@code _metadata} cannot be read. */
    enum Damage {
        EMPTY,
        TRUNCATED,
        LONGER,
        OTHER_NAME,
        NO_METADATA,
        NEWER_VERSION,
        UNKNOWN_HANDLE,
        HUGE_LENGTH;

        byte[] of(byte[] bytes, String name) {
            byte[] damaged = bytes.clone();
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            int at = text.indexOf(name);
            switch (this) {
                case EMPTY -> damaged = new byte[0];
                case TRUNCATED -> damaged = Arrays.copyOf(bytes, bytes.length - 1);
                case LONGER -> damaged = Arrays.copyOf(bytes, bytes.length + 1);
                case OTHER_NAME -> damaged[at] = (byte) (bytes[at] == '1' ? '2' : '1');
                case NO_METADATA -> damaged[0] ^= 1;
                case NEWER_VERSION -> damaged[7] = 99;
                case UNKNOWN_HANDLE -> damaged[typeOfHandle(text)] = 99;
                default -> damaged[16] = 0x7f; // of the number of master states
            }
            return damaged;
        }

        /** Before the size, the length of the path, and the path. */
        private static int typeOfHandle(String bytes) {
            return bytes.indexOf("file:") - 2 - 8 - 1;
        }
    }

    @ParameterizedTest
    @EnumSource
    void deletesNothingIfACheckpointCannotBeRead(Damage damage) throws IOException {
        byte[] bytes = Files.readAllBytes(metadata);
        String name = referenced.getFileName().toString();
        Files.write(metadata, damage.of(bytes, name));
        assertThat(run(directory, "--delete")).isEqualTo(1);
        assertThat(err).contains(metadata.toString(), "nothing may be deleted");
        assertThat(referenced).exists();
        assertThat(orphan).exists();
        Files.write(metadata, bytes);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(orphan).doesNotExist();
    }

    @Test
    void deletesNothingIfAFileOfACheckpointIsMissing() throws IOException {
        Files.delete(referenced);
        assertThat(run(directory, "--delete")).isEqualTo(1);
        assertThat(err).contains(referenced.toString(), "not there");
        assertThat(orphan).exists();
    }

    /** A job that restored a checkpoint of this one and claimed it. */
    @Test
    void keepsWhatOtherJobsReferTo() throws IOException {
        checkpoint(storage.job(2).resolve("chk-1"), OLD, orphan);
        assertThat(run(job, "--delete")).isZero();
        assertThat(orphan).exists();
        assertThat(out).contains("looked for in:", directory.toString());
    }

    @Test
    void keepsWhatCheckpointsElsewhereReferTo(@TempDir Path elsewhere) throws IOException {
        checkpoint(elsewhere.resolve("savepoints/savepoint-1"), OLD, orphan);
        assertThat(run(job, "--delete", "--referenced-from", elsewhere.toString())).isZero();
        assertThat(orphan).exists();
        Path empty = Files.createDirectories(elsewhere.resolve("empty"));
        assertThat(run(job, "--delete", "--referenced-from", empty.toString())).isEqualTo(1);
        assertThat(err).contains("there is no checkpoint");
        assertThat(orphan).exists();
    }

    /** The same directory by another path, as with two mounts or two schemes of one bucket. */
    @Test
    void aFileIsKnownByItsNameWhateverThePath(@TempDir Path elsewhere) throws IOException {
        Path other = elsewhere.resolve("mount");
        Files.createSymbolicLink(other, directory);
        checkpoint(job.resolve("chk-7"), OLD, other.resolve(directory.relativize(referenced)));
        assertThat(run(directory, "--delete")).isZero();
        assertThat(referenced).exists();
        assertThat(orphan).doesNotExist();
    }

    @Test
    void followsNoSymbolicLinks(@TempDir Path elsewhere) throws IOException {
        Path outside = file(elsewhere.resolve("other"), OLD);
        Path link = shared.resolve("link");
        Files.createSymbolicLink(link, outside.getParent());
        Path toFile = shared.resolve("link-to-file");
        Files.createSymbolicLink(toFile, outside);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(outside).exists();
        assertThat(link).exists();
        assertThat(toFile).exists();
        assertThat(orphan).doesNotExist();
    }

    @Test
    void linksToOtherCheckpointsHaveToBeNamed(@TempDir Path elsewhere) throws IOException {
        checkpoint(elsewhere.resolve("chk-1"), OLD, orphan);
        Files.createSymbolicLink(directory.resolve("claimed"), elsewhere);
        Files.createSymbolicLink(directory.resolve("latest"), metadata.getParent());
        assertThat(run(directory, "--delete")).isEqualTo(1);
        assertThat(err).contains("claimed").doesNotContain("latest");
        assertThat(orphan).exists();
        assertThat(run(directory, "--delete", "--referenced-from", elsewhere.toString())).isZero();
        assertThat(orphan).exists();
    }

    @Test
    void neverDeletesWhatTasksOwn() throws IOException {
        Path owned = file(job.resolve("taskowned"), OLDER);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(owned).exists();
        assertThat(out).contains("write-ahead sinks");
    }

    /** File merging may keep a file open in which nothing counts. */
    @Test
    void keepsFilesOfFileMergingWhileTheJobWrites() throws IOException {
        Path merged = file(shared.resolve("subtask"), OLDER);
        aged(metadata, YOUNG);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(merged).exists();
        assertThat(orphan).doesNotExist();
        aged(metadata, OLD);
        aged(metadata.getParent(), OLD);
        assertThat(run(directory, "--delete")).isZero();
        assertThat(merged).doesNotExist();
    }

    @Test
    void writesJson() throws IOException {
        Path file = directory.resolve("report.json");
        assertThat(run(directory, "--json", file.toString())).isZero();
        JsonNode report = new ObjectMapper().readTree(file.toFile());
        assertThat(report.at("/totals/delete/files").asInt()).isEqualTo(1);
        assertThat(report.at("/jobs/0/files/0/path").asText()).endsWith(orphan.toString());
        assertThat(report.at("/jobs/0/files/0/verdict").asText()).isEqualTo("delete");
        assertThat(report.at("/jobs/0/files/0/is_deleted").asBoolean()).isFalse();
        assertThat(run(directory, "--delete", "--json", "-")).isZero();
        JsonNode printed = new ObjectMapper().readTree(out);
        assertThat(printed.at("/totals/deleted/files").asInt()).isEqualTo(1);
    }

    @Test
    void otherDirectoriesAreRefused(@TempDir Path elsewhere) throws IOException {
        assertThat(run(elsewhere)).isEqualTo(1);
        assertThat(err).contains("job ids");
        assertThat(run(elsewhere.resolve("none"))).isEqualTo(1);
        assertThat(err).contains("there is no");
        assertThat(run(metadata.getParent())).isEqualTo(1);
        assertThat(err).contains("name the directory of its job");
        assertThat(run(Path.of("unknown:/bucket"))).isEqualTo(1);
        assertThat(err).contains("unknown");
    }

    /** What the help text gives as examples are right command lines. */
    @Test
    void examplesOfTheHelpAreAccepted() {
        String program = "./afterbay doctor orphans ";
        List<String> examples =
                Arrays.stream(Orphans.commandLine().getCommandSpec().usageMessage().footer())
                        .map(String::strip)
                        .filter(line -> line.startsWith(program))
                        .map(line -> line.substring(program.length()))
                        .toList();
        assertThat(examples).hasSizeGreaterThan(3);
        assertThat(examples)
                .allSatisfy(example -> Orphans.commandLine().parseArgs(example.split(" +")));
    }
}
