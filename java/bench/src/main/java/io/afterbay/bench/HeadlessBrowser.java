package io.afterbay.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The browser of this machine, without a window, for tests that a page is drawn. It is here rather
 * than among the tests since pages of other modules are made of {@link HtmlPage}, too. Safe for
 * threads, with a folder each.
 */
public final class HeadlessBrowser {
    /** What is looked for on the PATH. */
    public static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "chrome");

    private static final long TIMEOUT_S = 240;

    private final String program;

    private HeadlessBrowser(String program) {
        this.program = program;
    }

    /** The first that is on the PATH; empty if none is. */
    public static Optional<HeadlessBrowser> find() {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(directory -> NAMES.stream().map(name -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .map(path -> new HeadlessBrowser(path.toString()))
                .findFirst();
    }

    /** What is wrong without one, and the way out. */
    public static String missing() {
        return "none of "
                + NAMES
                + " is on the PATH, so no page is drawn (Debian: apt-get install chromium)";
    }

    /**
     * The document as it is after the page's scripts ran.
     *
     * @param folder for the browser's own files
     * @throws IOException if the browser fails, or takes more than four minutes
     */
    public String documentOf(Path page, Path folder) throws IOException, InterruptedException {
        Path document = folder.resolve("document.html");
        Process process =
                new ProcessBuilder(
                                program,
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--user-data-dir=" + folder.resolve("profile"),
                                "--virtual-time-budget=10000",
                                "--dump-dom",
                                page.toUri().toString())
                        .redirectOutput(document.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(program + " took more than " + TIMEOUT_S + " s for " + page);
        }
        if (process.exitValue() != 0) {
            throw new IOException(program + " ended with " + process.exitValue() + " for " + page);
        }
        return Files.readString(document, UTF_8);
    }
}
